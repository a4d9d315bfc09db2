#pragma once

#include "core/simulation/simulation.hpp"

/// What can be said of a platform without a run.
namespace eventloom {

/// Searches a cycle for the platform. Counts as the one simulation of the process. Throws UserError as simulate().
PlatformPhases phases_for(const SimulationSettings& settings);

/// Checks the platform, and that it has the nodes. Counts as the one simulation of the process.
void check_platform(const SimulationSettings& settings);

}  // namespace eventloom
