#pragma once

#include <vector>

#include "app/document/plot.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Plots of the points of `bench scan`, at least one: rates over message sizes, and over the number of clients.
/// Steps of the breakdown and containers are in the table only.
std::vector<Plot> scan_plots(const Json& points);

}  // namespace eventloom
