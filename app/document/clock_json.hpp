#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "core/control/clock_fit.hpp"

namespace eventloom {

/// One element per rank: {"offset_ns", "rate_ppm", "residual_ns", "precision_ns", "round_trips"}.
nlohmann::json to_json(const std::vector<ClockQuality>& clocks);

}  // namespace eventloom
