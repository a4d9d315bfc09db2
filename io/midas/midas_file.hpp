#pragma once

#include <cstdint>
#include <filesystem>
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

/// Reads a .mid file event by event, without those of the logger.
///
/// An event with a bank that does not fit is dropped, and so is one without banks (MIDAS' format FIXED) where the next
/// event shows how long it is; everything else that is not an event is skipped up to the next one.
class MidasFile {
 public:
  /// Throws UserError when the file cannot be opened or does not begin with an event.
  explicit MidasFile(const std::string& path);

  enum class Item : std::uint8_t { event, damage, end };
  Item next();
  /// After Item::event; its banks are valid until next().
  [[nodiscard]] const MidasEvent& event() const { return event_; }
  /// After Item::damage.
  [[nodiscard]] const MidasDamage& damage() const { return damage_; }

  [[nodiscard]] Complaints& complaints() { return complaints_; }
  /// run_events, skipped_elements: those of the logger; bad_records: events that were dropped.
  [[nodiscard]] const Counters& counters() const { return counters_; }
  [[nodiscard]] std::uint64_t size() const { return file_.size(); }
  [[nodiscard]] double share_read() const { return file_.share_read(); }

 private:
  Item read_event(MidasHeader header);
  [[nodiscard]] bool is_followed(MidasHeader header);
  Item search();
  Item finish(const std::string& how);
  Item damaged(MidasDamage damage, const std::string& what);

  FileReader file_;
  Complaints complaints_;
  MidasEvent event_;
  MidasDamage damage_;
  std::uint64_t event_bytes_ = 0;  ///< of the current event, which is still at the front
  bool ended_ = false;
  Counters counters_{Metric::run_events, Metric::skipped_elements, Metric::bad_records};
};

/// Whether a file begins with an event.
bool is_midas_file(const std::filesystem::path& file);

}  // namespace eventloom
