#include "io/recorded/column_name.hpp"

#include <algorithm>
#include <array>

namespace eventloom {

namespace {

struct Unit {
  std::string_view name;
  std::array<std::string_view, 6> also;
};

// The micro sign and the Greek letter mu look alike, so both are accepted.
constexpr auto kUnits = std::to_array<Unit>({
    {"ps", {"picosecond", "picoseconds", "psec"}},
    {"ns", {"nanosecond", "nanoseconds", "nsec"}},
    {"us", {"microsecond", "microseconds", "usec", "\u00b5s", "\u03bcs", "\u03bcsec"}},
    {"ms", {"millisecond", "milliseconds", "msec"}},
    {"s", {"second", "seconds", "sec", "secs"}},
    {"tick", {"ticks"}},
});

std::string in_lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lower;
}

}  // namespace

std::string_view unit_of_time(std::string_view word) {
  const auto lower = in_lower_case(word);
  if (lower.empty()) return {};
  for (const auto& unit : kUnits) {
    if (lower == unit.name || std::ranges::find(unit.also, lower) != unit.also.end()) return unit.name;
  }
  return {};
}

ColumnName::ColumnName(std::string_view text) : name(in_lower_case(text)) {
  const auto end = name.find_last_of("_[(");
  if (end == std::string::npos) return;
  auto rest = std::string_view(name).substr(end + 1);
  if (rest.ends_with(']') || rest.ends_with(')')) rest.remove_suffix(1);
  unit = unit_of_time(rest);
  if (unit.empty()) return;
  name.resize(end);
  while (name.ends_with(' ') || name.ends_with('\t')) name.pop_back();
}

}  // namespace eventloom
