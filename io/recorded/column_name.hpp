#pragma once

#include <string>
#include <string_view>

namespace eventloom {

/// The unit of time that a word names, in any case: "ns", "nanosecond", "nanoseconds" or "nsec" are "ns". Empty when it
/// names none of ps, ns, us, ms, s and tick.
std::string_view unit_of_time(std::string_view word);

/// The name of a column of times, in lower case, and the unit after it: "time_ns", "time [ns]", "time(ns)".
struct ColumnName {
  explicit ColumnName(std::string_view text);

  std::string name;
  std::string unit;  ///< empty: none
};

}  // namespace eventloom
