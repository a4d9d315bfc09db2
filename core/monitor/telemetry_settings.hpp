#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace eventloom {

/// What rank 0 is to know of a run while it goes on; the same on all ranks.
struct TelemetrySettings {
  bool counters = false;                                        ///< nothing is measured and sent without
  bool pictures = false;                                        ///< histograms and events as well
  std::chrono::nanoseconds interval = std::chrono::seconds(1);  ///< between two messages of a rank, at least
  std::int64_t started_ns = 0;  ///< Unix time of tick 0; 0: unknown, and latency is not measured
  std::uint64_t tick_ps = 1000;
  std::uint32_t writers = 1;  ///< of all ranks
};

/// With more ranks rank 0 hears no more than from this many.
inline constexpr int kRanksPerInterval = 64;

/// Between two messages of a rank: grows with the ranks beyond kRanksPerInterval.
constexpr std::chrono::nanoseconds telemetry_interval(std::chrono::nanoseconds least, std::size_t ranks) {
  return least * std::max<std::int64_t>(1, static_cast<std::int64_t>(ranks) / kRanksPerInterval);
}

}  // namespace eventloom
