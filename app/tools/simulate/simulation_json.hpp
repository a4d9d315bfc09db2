#pragma once

#include "core/runtime/json.hpp"
#include "core/simulation/simulation.hpp"

/// Messages between `eventloom simulate` and the simulator program.
namespace eventloom {

Json to_json(const SimulationSettings& settings);
SimulationSettings settings_of(const Json& json);

Json to_json(const SimulationResult& result);
SimulationResult result_of(const Json& json);

Json to_json(const PlatformPhases& found);
PlatformPhases phases_of(const Json& json);

}  // namespace eventloom
