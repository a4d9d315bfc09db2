#pragma once

#include <vector>

#include "core/control/clock_fit.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// One element per rank: {"offset_ns", "rate_ppm", "residual_ns", "precision_ns", "round_trips"}.
Json to_json(const std::vector<ClockQuality>& clocks);

}  // namespace eventloom
