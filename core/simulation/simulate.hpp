#pragma once

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Runs the sessions of all ranks over the simulated network; equal settings give equal results. SimGrid allows only
/// one simulation per process. Throws UserError if the platform or the schedule does not fit.
SimulationResult simulate(const SimulationSettings& settings);

}  // namespace eventloom
