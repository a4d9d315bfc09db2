#pragma once

#include <memory>

#include "app/tools/bench/clock_trial.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The clocks of ranks other than 0.
enum class RealClock {
  steady,  ///< the clock that runs use; one host has one for all ranks
  raw,     ///< CLOCK_MONOTONIC_RAW, which time synchronisation of the host does not steer: it drifts on one host, too
};

/// The clocks of this rank and of rank 0. All members and both ends of its life are collective. On one host, true times
/// come from reading both clocks; between hosts, from a synchronisation made for the purpose.
std::unique_ptr<ClockPair> real_clocks(const Communicator& communicator, RealClock clock,
                                       const ClockSync::Settings& sync);

}  // namespace eventloom
