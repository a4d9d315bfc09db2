#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schedulers/ordered.hpp"

namespace eventloom {

/// One transfer of an explicit schedule.
struct TableEntry {
  std::uint64_t time_ns = 0;  ///< from the beginning of the cycle
  std::uint64_t bytes = 0;    ///< 0: all data of the source for the slice
  SourceId source;
  BuilderId destination;
};

/// What a schedule file says: one cycle, repeated for ever.
struct ScheduleTable {
  std::vector<TableEntry> entries;
  std::uint64_t period_ns = 0;  ///< of a cycle; 0: only the order counts
};

/// The file in "table:FILE"; nothing for other schedules.
std::optional<std::string> schedule_file(std::string_view schedule);
/// Parses lines "time,size,source,destination" (time in ns or with a unit, size in bytes or with a
/// unit, source and builder by number), "period,TIME" and comments from '#' on. `name` is for
/// messages. Throws std::invalid_argument with file, line and what was expected. A file that has
/// times needs a period beyond the last of them.
ScheduleTable parse_schedule_table(const std::string& text, const std::string& name);

/// An explicit schedule. A cycle has as many slices as source 0 has entries; they go to the builders of those entries,
/// in order of time. Every other source must serve each builder as often per cycle, in its own order and at its own
/// times: its r-th entry for a builder is for the r-th slice of the cycle that goes to that builder.
class Table final : public Ordered {
 public:
  /// Of the text in the settings. Throws std::invalid_argument.
  explicit Table(const ScheduleSettings& settings);
  Table(const ScheduleSettings& settings, const ScheduleTable& table, const std::string& name);

  [[nodiscard]] std::optional<SliceId> next_slice(BuilderId builder, SliceId from) const override;
  [[nodiscard]] std::uint64_t slot_of(SourceId source, SliceId slice) const override;
  [[nodiscard]] std::uint64_t start_ns(SourceId source, SliceId slice) const override;
  [[nodiscard]] std::uint64_t slot_ns() const override { return step_ns_; }
  [[nodiscard]] std::uint64_t cycle_ns() const override { return period_ns_; }

 private:
  struct Place {
    std::uint64_t slot = 0;  ///< in the cycle
    std::uint64_t time_ns = 0;
  };
  void place_source(std::uint32_t source, std::vector<TableEntry> entries, const std::string& name);

  std::vector<BuilderId> cycle_;            ///< by slice of the cycle
  std::vector<std::vector<Place>> places_;  ///< [source][slice of the cycle]
  std::uint64_t first_cycle_ = 0;
  std::uint64_t period_ns_ = 0;
  std::uint64_t step_ns_ = 0;
};

}  // namespace eventloom
