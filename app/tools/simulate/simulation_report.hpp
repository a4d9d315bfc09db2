#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/tools/bench/bench_report.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// The table of simulated points.
std::vector<BenchColumn> simulation_columns();
/// A point as BenchReport and the JSON of `simulate` and `plan` show it.
nlohmann::json point_json(const SimulationSettings& settings, const SimulationResult& result);

/// What the network's routes give without a schedule.
std::string pairs_line(std::uint32_t nodes, const PairRates& rates);

}  // namespace eventloom
