#pragma once

#include <string_view>

#include "core/definitions/run_ticks.hpp"

namespace eventloom {

/// Parses a speed, in metres per tick: "0.3" and "0.3m/ns" are metres per nanosecond; other units are as in "300km/ms",
/// "30cm/ns", "0.3m/tick", and "0.7c" for light in a vacuum. Of event numbers it is a distance per tick. Throws
/// std::invalid_argument unless it is positive.
double parse_speed(std::string_view text, const RunTicks& ticks);

}  // namespace eventloom
