#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace eventloom {

/// What rank 0 receives about a run in progress; identical on all ranks.
struct TelemetrySettings {
  bool counters = false;                                        ///< false: nothing is measured or sent
  bool pictures = false;                                        ///< histograms and events as well
  std::chrono::nanoseconds interval = std::chrono::seconds(1);  ///< minimum time between two messages of a rank
  std::int64_t started_ns = 0;  ///< Unix time of tick 0; 0: unknown, and latency is not measured
  std::uint64_t tick_ps = 1000;
  std::uint32_t writers = 1;  ///< number of writers on all ranks
};

/// Telemetry slows down with more ranks: rank 0 receives from about this many per minimum interval.
inline constexpr int kRanksPerInterval = 64;

/// Time between two messages of a rank: grows with the ranks beyond kRanksPerInterval.
constexpr std::chrono::nanoseconds telemetry_interval(std::chrono::nanoseconds least, std::size_t ranks) {
  return least * std::max<std::int64_t>(1, static_cast<std::int64_t>(ranks) / kRanksPerInterval);
}

}  // namespace eventloom
