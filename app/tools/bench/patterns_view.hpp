#pragma once

#include <vector>

#include "app/document/plot.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// The plots of `bench patterns`: rates over message sizes with their ceilings, times of messages, and the rates of the
/// last point's connections over time.
std::vector<Plot> patterns_plots(const Json& points);

}  // namespace eventloom
