#pragma once

#include <string>
#include <string_view>

namespace eventloom {

/// The unit of time that a word names, ignoring case: "ns", "nanosecond", "nanoseconds" and "nsec" give "ns". Empty if
/// it names none of ps, ns, us, ms, s and tick.
std::string_view unit_of_time(std::string_view word);

/// Splits the name of a time column into its name, in lower case, and its unit: "time_ns", "time [ns]", "time(ns)".
struct ColumnName {
  explicit ColumnName(std::string_view text);

  std::string name;
  std::string unit;  ///< empty: none
};

}  // namespace eventloom
