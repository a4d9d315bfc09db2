#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/observe/run_snapshot.hpp"

namespace eventloom {

/// What an alarm can be about.
struct AlarmQuantity {
  /// Nothing while it is not known: before the first reports, and of rates once the run or the source has ended.
  using Value = std::function<std::optional<double>(const RunSnapshot&)>;

  std::string_view unit;  ///< as in the metrics table; "s" and "1" besides
  Value of_run;           ///< empty: there is none
  std::function<Value(std::uint32_t source)> of_source;
};

/// By its name: one of kAlarmQuantities, or a counter of the metrics table. Nothing: there is none.
std::optional<AlarmQuantity> find_alarm_quantity(std::string_view name);
/// All such names.
std::vector<std::string_view> alarm_quantity_names();

/// For messages.
inline constexpr const char* kAlarmQuantities =
    "lost, rate, stalled, event_rate, byte_rate, slice_rate, ring_fill, memory";

}  // namespace eventloom
