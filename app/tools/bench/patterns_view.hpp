#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "app/document/plot.hpp"

namespace eventloom {

/// The plots of `bench patterns`: rates over message sizes with their ceilings, times of messages, and the rates of the
/// last point's connections over time.
std::vector<Plot> patterns_plots(const nlohmann::json& points);

}  // namespace eventloom
