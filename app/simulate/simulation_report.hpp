#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "app/bench/bench_report.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// The table of simulated points.
std::vector<BenchColumn> simulation_columns();
/// A point as BenchReport and the JSON of `simulate` and `plan` show it.
nlohmann::json point_json(const SimulationSettings& settings, const SimulationResult& result);

}  // namespace eventloom
