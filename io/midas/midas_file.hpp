#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/metrics.hpp"
#include "io/files/defect_log.hpp"
#include "io/files/file_reader.hpp"
#include "io/midas/midas_event.hpp"

namespace eventloom {

struct MidasEvent {
  MidasHeader header;
  std::vector<MidasBank> banks;
  std::uint64_t offset = 0;  ///< offset of its header in the file, bytes
};

/// A place in the file that yielded no event; it has been reported.
struct MidasDamage {
  std::uint64_t offset = 0;  ///< bytes
  std::uint32_t banks = 0;   ///< number of lost banks that is known
  bool hole = false;         ///< further banks may be missing
  bool rest = false;         ///< the rest of the file is lost
};

/// Reads the events of one id from a .mid file. Events of other front ends, in any format, and of the logger are
/// counted and skipped by the length in their headers.
///
/// Drops events of the id that have a bank that does not fit, or data without banks (MIDAS format FIXED). An event
/// without data has no banks. Bytes that are not an event are skipped up to the next one.
class MidasFile {
 public:
  /// Throws UserError when the file cannot be opened or does not begin with an event.
  explicit MidasFile(const std::string& path, Followed followed = nullptr);
  /// Whether a file that grows has its first headers.
  static bool can_open(const std::string& path);

  enum class Item : std::uint8_t { event, damage, pause, end };
  /// Advances to the next event with this id, or to the next event with banks if `id` is std::nullopt. A
  /// file that is followed pauses where the next event is not yet complete.
  Item next(std::optional<std::uint16_t> id);
  /// Valid after Item::event; its banks are valid until next().
  [[nodiscard]] const MidasEvent& event() const { return event_; }
  /// Valid after Item::damage.
  [[nodiscard]] const MidasDamage& damage() const { return damage_; }

  /// Number of events of each id so far, without those of the logger.
  [[nodiscard]] const std::map<std::uint16_t, std::uint64_t>& ids() const { return ids_; }
  [[nodiscard]] DefectLog& defect_log() { return defect_log_; }
  /// run_events and skipped_elements count events of the logger, bad_records dropped events.
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] double share_read() const { return file_.share_read(); }

 private:
  bool count(MidasHeader header);
  Item read_event(MidasHeader header, bool banked);
  [[nodiscard]] bool is_framed(MidasHeader header);
  [[nodiscard]] bool awaits_event();
  Item search();
  Item finish(const std::string& how);
  Item damaged(MidasDamage damage, const std::string& what);

  FileReader file_;
  DefectLog defect_log_;
  MidasEvent event_;
  MidasDamage damage_;
  std::uint64_t event_bytes_ = 0;  ///< size of the current event, which is still at the front
  bool ended_ = false;
  bool awaits_ = false;  ///< more is needed to judge a length
  std::map<std::uint16_t, std::uint64_t> ids_;
  Counters counters_{Metric::run_events, Metric::skipped_elements, Metric::bad_records};
};

}  // namespace eventloom
