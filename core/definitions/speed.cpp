#include "core/definitions/speed.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/definitions/text_parts.hpp"
#include "formats/units.hpp"

namespace eventloom {

namespace {

constexpr double kLight_m_per_ps = 299'792'458e-12;

constexpr std::array<std::pair<std::string_view, double>, 4> kLengths = {
    {{"mm", 1e-3}, {"cm", 1e-2}, {"m", 1}, {"km", 1e3}}};

/// The unit in metres per tick.
std::optional<double> unit_of_speed(std::string_view unit, const RunTicks& ticks) {
  const auto tick = static_cast<double>(ticks.ps);
  if (unit == "c") return kLight_m_per_ps * tick;
  const auto [length, time] = split_once(unit.empty() ? "m/ns" : unit, '/');
  const auto ps = time == "tick" ? ticks.ps : picoseconds_of(time);
  for (const auto& [name, metres] : kLengths) {
    if (ps && name == length) return metres * (tick / static_cast<double>(*ps));
  }
  return std::nullopt;
}

}  // namespace

double parse_speed(std::string_view text, const RunTicks& ticks) {
  const auto end = std::min(text.find_first_not_of("0123456789.eE+-"), text.size());
  const std::string number(trimmed(text.substr(0, end)));
  const auto unit = unit_of_speed(trimmed(text.substr(end)), ticks);
  if (ticks.numbered && unit && !text.ends_with("/tick"))
    throw std::invalid_argument(in_quotes(text) +
                                " is a speed, but the times of this run are event numbers: use m/tick");
  const double value = parse_decimal(number) ? std::strtod(number.c_str(), nullptr) : 0;
  if (!unit || !(value > 0) || !std::isfinite(value)) {
    throw std::invalid_argument(is_not(text,
                                       "a speed: a number above 0 of metres per nanosecond, or with a unit such as "
                                       "m/ns, m/s, cm/ns, or c for that of light"));
  }
  return value * *unit;
}

}  // namespace eventloom
