#pragma once

#include <cstdint>
#include <string_view>

namespace eventloom {

/// A speed in metres per tick: "0.3" and "0.3m/ns" are metres per nanosecond; "300km/ms", "30cm/ns", "0.3m/tick" or
/// "0.7c", of light in a vacuum, are others. Throws std::invalid_argument unless it is above 0.
double parse_speed(std::string_view text, std::uint64_t tick_ps);

}  // namespace eventloom
