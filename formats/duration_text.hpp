#pragma once

#include <cstdint>
#include <string>

#include "formats/ids.hpp"

namespace eventloom {

/// The exact duration in the form that options take: "10us", "1.5ms", "90s".
std::string duration_text(Tick ticks, std::uint64_t tick_ps);

}  // namespace eventloom
