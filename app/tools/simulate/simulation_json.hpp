#pragma once

#include <nlohmann/json.hpp>

#include "core/simulation/simulation.hpp"

/// Messages between `eventloom simulate` and the simulator program.
namespace eventloom {

nlohmann::json to_json(const SimulationSettings& settings);
SimulationSettings settings_of(const nlohmann::json& json);

nlohmann::json to_json(const SimulationResult& result);
SimulationResult result_of(const nlohmann::json& json);

nlohmann::json to_json(const PlatformPhases& found);
PlatformPhases phases_of(const nlohmann::json& json);

}  // namespace eventloom
