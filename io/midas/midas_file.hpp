#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "io/files/complaints.hpp"
#include "io/files/file_reader.hpp"
#include "io/midas/midas_event.hpp"

namespace eventloom {

struct MidasEvent {
  MidasHeader header;
  std::vector<MidasBank> banks;
  std::uint64_t offset = 0;  ///< of its header in the file, bytes
};

/// A place of the file that gave no event; it has been reported.
struct MidasDamage {
  std::uint64_t offset = 0;  ///< bytes
  std::uint32_t banks = 0;   ///< that were lost, as far as known
  bool hole = false;         ///< more than these may be missing
  bool rest = false;         ///< of the file
};

/// Reads the events of one id from a .mid file. Those of other front ends, in whatever format, and of the logger are
/// passed over by the length in their headers, and counted.
///
/// An event of the id with a bank that does not fit is dropped, and so is one with data but without banks (MIDAS'
/// format FIXED); one without data has no banks. Everything that is not an event is skipped up to the next one.
class MidasFile {
 public:
  /// Throws UserError when the file cannot be opened or does not begin with an event.
  explicit MidasFile(const std::string& path);

  enum class Item : std::uint8_t { event, damage, end };
  /// Advances to the next event of the id; to any that has banks when there is none.
  Item next(std::optional<std::uint16_t> id);
  /// After Item::event; its banks are valid until next().
  [[nodiscard]] const MidasEvent& event() const { return event_; }
  /// After Item::damage.
  [[nodiscard]] const MidasDamage& damage() const { return damage_; }

  /// How many events of each id it had so far, without those of the logger.
  [[nodiscard]] const std::map<std::uint16_t, std::uint64_t>& ids() const { return ids_; }
  [[nodiscard]] Complaints& complaints() { return complaints_; }
  /// run_events, skipped_elements: those of the logger; bad_records: events that were dropped.
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] double share_read() const { return file_.share_read(); }

 private:
  bool count(MidasHeader header);
  Item read_event(MidasHeader header, bool banked);
  [[nodiscard]] bool is_framed(MidasHeader header);
  Item search();
  Item finish(const std::string& how);
  Item damaged(MidasDamage damage, const std::string& what);

  FileReader file_;
  Complaints complaints_;
  MidasEvent event_;
  MidasDamage damage_;
  std::uint64_t event_bytes_ = 0;  ///< of the current event, which is still at the front
  bool ended_ = false;
  std::map<std::uint16_t, std::uint64_t> ids_;
  Counters counters_{Metric::run_events, Metric::skipped_elements, Metric::bad_records};
};

}  // namespace eventloom
