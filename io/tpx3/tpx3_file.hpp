#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/metrics.hpp"
#include "io/files/defect_log.hpp"
#include "io/files/file_reader.hpp"
#include "io/tpx3/tpx3_packet.hpp"
#include "io/tpx3/tpx3_preview.hpp"

namespace eventloom {

/// A place in the file that yielded no packets; it has been reported.
struct Tpx3Damage {
  std::uint32_t hits = 0;  ///< number of lost hits that is known
  bool rest = false;       ///< the rest of the file is lost
};

/// Reads a .tpx3 file packet by packet. Skips data between the end of a chunk and the beginning of the next.
class Tpx3File {
 public:
  /// Throws UserError when the file cannot be opened or does not begin with a chunk.
  explicit Tpx3File(const std::string& path);

  enum class Item : std::uint8_t { packet, damage, end };
  Item next();
  /// Valid after Item::packet.
  [[nodiscard]] Tpx3Packet packet() const { return packet_; }
  [[nodiscard]] std::uint32_t chip() const { return chip_; }
  /// Previews the packets after the current one.
  Tpx3Preview look_ahead();
  /// Valid after Item::damage.
  [[nodiscard]] const Tpx3Damage& damage() const { return damage_; }
  /// Offset of the current item, bytes.
  [[nodiscard]] std::uint64_t offset() const { return offset_; }

  [[nodiscard]] DefectLog& defect_log() { return defect_log_; }
  /// Counts damaged_headers.
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] double share_read() const { return file_.share_read(); }

 private:
  Item search();
  Item finish();
  template <class Text>
  Item damaged(Tpx3Damage damage, Text&& text);

  FileReader file_;
  DefectLog defect_log_;
  Tpx3Packet packet_{0};
  Tpx3Damage damage_;
  std::uint64_t offset_ = 0;
  std::uint64_t item_bytes_ = 0;  ///< size of the current item, which is at the front
  std::uint32_t chip_ = 0;
  std::uint32_t left_ = 0;  ///< packets left in the chunk
  bool ended_ = false;
  Counters counters_{Metric::damaged_headers};
};

}  // namespace eventloom
