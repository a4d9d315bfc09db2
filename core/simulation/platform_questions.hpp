#pragma once

#include "core/simulation/simulation.hpp"

/// Queries on a platform that need no run.
namespace eventloom {

/// Searches a cycle for the platform. Counts as the process's one simulation. Throws UserError like simulate().
PlatformPhases phases_for(const SimulationSettings& settings);

/// Checks the platform and its number of nodes. Counts as the process's one simulation.
void check_platform(const SimulationSettings& settings);

}  // namespace eventloom
