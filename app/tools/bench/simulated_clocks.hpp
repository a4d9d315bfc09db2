#pragma once

#include <cstdint>
#include <memory>

#include "app/tools/bench/clock_trial.hpp"

namespace eventloom {

/// Clocks and network of a simulation; times in ns.
struct SimulatedClockSettings {
  std::int64_t offset = 0;     ///< local clock minus master's, at the start
  double drift = 0;            ///< drift of the local clock against the master's: 1e-6 gains 1 us per s
  std::int64_t delay = 0;      ///< shortest time of a message
  double jitter = 0;           ///< mean of what is added to it, exponentially distributed, each way
  std::int64_t asymmetry = 0;  ///< added to each message from the master
  std::uint64_t seed = 1;
};

/// Two ranks with a ClockSync each in one process, whose messages take simulated time. Both look for messages whenever
/// one arrives. The same settings give the same results.
std::unique_ptr<ClockPair> simulate_clocks(const SimulatedClockSettings& settings, const ClockSync::Settings& sync);

}  // namespace eventloom
