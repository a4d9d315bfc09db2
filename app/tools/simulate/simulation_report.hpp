#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/tools/bench/bench_report.hpp"
#include "core/runtime/json.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Columns of the table of simulated points.
std::vector<BenchColumn> simulation_columns();
/// A point as it appears in BenchReport and in the JSON of `simulate` and `plan`.
Json point_json(const SimulationSettings& settings, const SimulationResult& result);

/// A line about the rates that the network's routes allow without a schedule.
std::string pairs_line(std::uint32_t nodes, const PairRates& rates);

}  // namespace eventloom
