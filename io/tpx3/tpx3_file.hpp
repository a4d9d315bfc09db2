#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/metrics.hpp"
#include "io/files/complaints.hpp"
#include "io/files/file_reader.hpp"
#include "io/tpx3/tpx3_packet.hpp"
#include "io/tpx3/tpx3_preview.hpp"

namespace eventloom {

/// A place of the file that gave no packets; it has been reported.
struct Tpx3Damage {
  std::uint32_t hits = 0;  ///< that were lost, as far as known
  bool rest = false;       ///< of the file
};

/// Reads a .tpx3 file packet by packet. What lies between the end of a chunk and the beginning of the next is skipped.
class Tpx3File {
 public:
  /// Throws UserError when the file cannot be opened or does not begin with a chunk.
  explicit Tpx3File(const std::string& path);

  enum class Item : std::uint8_t { packet, damage, end };
  Item next();
  /// After Item::packet.
  [[nodiscard]] Tpx3Packet packet() const { return packet_; }
  [[nodiscard]] std::uint32_t chip() const { return chip_; }
  /// The packets behind it.
  Tpx3Preview look_ahead();
  /// After Item::damage.
  [[nodiscard]] const Tpx3Damage& damage() const { return damage_; }
  /// Of the item.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  [[nodiscard]] Complaints& complaints() { return complaints_; }
  /// damaged_headers
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] double share_read() const { return file_.share_read(); }

 private:
  Item search();
  Item finish();
  template <class Text>
  Item damaged(Tpx3Damage damage, Text&& text);

  FileReader file_;
  Complaints complaints_;
  Tpx3Packet packet_{0};
  Tpx3Damage damage_;
  std::uint64_t offset_ = 0;
  std::uint64_t item_bytes_ = 0;  ///< at the front, of the current item
  std::uint32_t chip_ = 0;
  std::uint32_t left_ = 0;  ///< packets of the chunk
  bool ended_ = false;
  Counters counters_{Metric::damaged_headers};
};

}  // namespace eventloom
