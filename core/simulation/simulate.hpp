#pragma once

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Runs the sessions of all ranks over the simulated network; the same settings give the same result. Once per process,
/// as SimGrid allows no second simulation in it. Throws UserError when the platform or the schedule does not fit.
SimulationResult simulate(const SimulationSettings& settings);

/// Searches a cycle for the platform. Counts as the one simulation of the process. Throws UserError as simulate().
PlatformPhases phases_for(const SimulationSettings& settings);

/// Checks the platform, and that it has the nodes. Counts as the one simulation of the process.
void check_platform(const SimulationSettings& settings);

}  // namespace eventloom
