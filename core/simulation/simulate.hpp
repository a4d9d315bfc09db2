#pragma once

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Runs the sessions of all ranks over the simulated network; the same settings give the same result. Once per process,
/// as SimGrid allows no second simulation in it. Throws UserError when the platform or the schedule does not fit.
SimulationResult simulate(const SimulationSettings& settings);

}  // namespace eventloom
