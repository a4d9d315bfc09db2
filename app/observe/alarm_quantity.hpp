#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// A quantity that an alarm can test.
struct AlarmQuantity {
  /// std::nullopt while the value is unknown: before the first reports; for rates, also after the run or the
  /// source has ended.
  using Value = std::function<std::optional<double>(const RunSnapshot&)>;

  std::string_view unit;  ///< unit as in the metrics table, or "s" or "1"
  Value of_run;           ///< empty: the quantity does not exist for the run
  std::function<Value(std::uint32_t source)> of_source;
};

/// Returns the quantity of this name: one of kAlarmQuantities, or a counter of the metrics table. std::nullopt
/// if there is none.
std::optional<AlarmQuantity> find_alarm_quantity(std::string_view name);
/// Returns all such names.
std::vector<std::string_view> alarm_quantity_names();

/// Names for messages.
inline constexpr const char* kAlarmQuantities =
    "lost, rate, stalled, event_rate, byte_rate, slice_rate, ring_fill, memory, disk_free, disk_left, clock_difference";

}  // namespace eventloom
