#pragma once

#include <cstdint>
#include <string>

#include "app/command/common_clock.hpp"
#include "app/tools/bench/duplexes.hpp"
#include "app/tools/bench/measured_times.hpp"

namespace eventloom {

struct SamplingSettings {
  std::string peer;  ///< see duplex_names()
  Wait wait = Wait::poll;
  std::uint64_t hz = 0;      ///< samples per second
  std::uint64_t values = 1;  ///< number of values of 8 bytes in a sample
  double seconds = 0;
  TimesKept kept;
};

/// The account of the samples, on rank 0.
struct Sampled {
  explicit Sampled(TimesKept kept) : latency(kept) {}
  /// Adds another measurement with the same settings.
  void add(const Sampled& other);
  /// Samples that were sent but not received.
  [[nodiscard]] std::uint64_t lost() const { return steps - missed - latency.histogram().count(); }

  std::uint64_t steps = 0;
  std::uint64_t missed = 0;  ///< steps whose time was over before the sample could be sent
  MeasuredTimes latency;     ///< starts at the planned time of a sample, ends when it is received
  double cpu_seconds = 0;    ///< used by both ends
};

/// The rank that receives the samples of rank 0: rank 1, or rank 0 itself if it is alone.
int receiver_of_samples(const Communicator& communicator);

/// Collective. Rank 0 samples and sends at a set rate, whether or not the receiver keeps up.
Sampled sample(const SamplingSettings& settings, CommonClock& clock, const Communicator& communicator);

}  // namespace eventloom
