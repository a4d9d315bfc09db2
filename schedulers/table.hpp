#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/ordered.hpp"

namespace eventloom {

/// One transfer of an explicit schedule.
struct TableEntry {
  std::uint64_t time_ns = 0;  ///< since the start of the cycle
  std::uint64_t bytes = 0;    ///< 0: all data of the source for the slice
  SourceId source;
  BuilderId destination;
};

/// Contents of a schedule file: one cycle, which is repeated.
struct ScheduleTable {
  std::vector<TableEntry> entries;
  std::uint64_t period_ns = 0;  ///< length of a cycle; 0: only the order matters
};

/// The FILE of "table:FILE"; std::nullopt for other schedules.
std::optional<std::string> schedule_file(std::string_view schedule);
/// Parses lines "time,size,source,destination" (time in ns or with a unit, size in bytes or with a unit, source and
/// builder by number) and "period,TIME"; '#' starts a comment. A file with times needs a period longer than the last
/// time. Throws std::invalid_argument that names the file (`name`), the line, and what was expected.
ScheduleTable parse_schedule_table(const std::string& text, const std::string& name);

/// An explicit schedule. A cycle has one slice per entry of source 0; the slices go to the builders of those entries,
/// sorted by time. Every other source must serve each builder equally often per cycle, but may use its own order and
/// times: its r-th entry for a builder carries the r-th slice of the cycle that goes to that builder.
class Table final : public Ordered {
 public:
  /// Parses the text in the settings. Throws std::invalid_argument.
  explicit Table(const ScheduleSettings& settings);
  Table(const ScheduleSettings& settings, const ScheduleTable& table, const std::string& name);

  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override;
  [[nodiscard]] std::uint64_t slot_of(SourceId source, SliceId slice) const override;
  [[nodiscard]] std::uint64_t start_ns(SourceId source, SliceId slice) const override;
  [[nodiscard]] std::uint64_t slot_ns() const override { return step_ns_; }
  [[nodiscard]] std::uint64_t cycle_ns() const override { return period_ns_; }

 private:
  struct Place {
    std::uint64_t slot = 0;  ///< position in the cycle
    std::uint64_t time_ns = 0;
  };
  void place_source(std::uint32_t source, std::vector<TableEntry> entries, const std::string& name);

  std::vector<BuilderId> cycle_;            ///< indexed by slice of the cycle
  std::vector<std::vector<Place>> places_;  ///< [source][slice of the cycle]
  std::uint64_t first_cycle_ = 0;
  std::uint64_t period_ns_ = 0;
  std::uint64_t step_ns_ = 0;
};

}  // namespace eventloom
