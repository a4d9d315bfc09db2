#pragma once

#include <cstdint>
#include <vector>

#include "core/control/clock_sync.hpp"

namespace eventloom {

/// The same instant on two clocks, ns.
struct ClockReading {
  std::int64_t local = 0;
  std::int64_t master = 0;
  double error_ns = 0;  ///< maximum error of `master`
};

/// Two clocks and what keeps them synchronised, seen from the rank that follows.
class ClockPair {
 public:
  ClockPair() = default;
  ClockPair(const ClockPair&) = delete;
  ClockPair& operator=(const ClockPair&) = delete;
  virtual ~ClockPair() = default;

  /// The synchronisation under test; its model converts the local clock to the master's.
  [[nodiscard]] virtual const ClockSync& sync() const = 0;
  /// Makes the first batch of round trips.
  virtual void synchronise() = 0;
  /// Lets this much time pass on the master's clock; batches that are due are made.
  virtual void work(std::int64_t ns) = 0;
  /// Reads both clocks without the synchronisation under test.
  [[nodiscard]] virtual ClockReading read() = 0;
};

struct ClockTrialSettings {
  ClockSync::Settings sync;
  std::int64_t sync_ns = 0;             ///< time during which the clocks are synchronised
  std::vector<std::int64_t> durations;  ///< times since then at which errors are measured, ns, ascending
};

/// Errors at one time: the master's time as computed from the local clock, minus the true one; ns.
struct ClockErrors {
  std::int64_t after_ns = 0;  ///< since the synchronisation
  ClockReading reading;
  double uncorrected = 0;  ///< using the offset alone, as if both clocks ran at the same rate
  double corrected = 0;    ///< using the offset and the rate found by the synchronisation
  double kept = 0;         ///< using the model of all batches made until now
  double bound = 0;        ///< bound of `corrected`: the precision stated at once, degraded by the error of the rate
};

struct ClockTrial {
  ClockModel model;                ///< at the end of the synchronisation
  ClockQuality quality;            ///< likewise
  ClockErrors at_sync;             ///< errors at the end of the synchronisation
  std::vector<ClockErrors> later;  ///< one per duration
};

/// Synchronises the clocks, keeps the model found, and measures how it ages. Collective where `pair` is.
ClockTrial run_clock_trial(ClockPair& pair, const ClockTrialSettings& settings);

}  // namespace eventloom
