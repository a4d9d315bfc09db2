#pragma once

#include <cstdint>
#include <string>

#include "app/bench/live_source.hpp"
#include "app/latency_histogram.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/engine/wiring.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// One measurement with sources that make hits in time.
struct LiveRunSettings {
  WiringSettings wiring;
  LiveSettings live;  ///< of every source; `id` and `since_start` are filled in
  EventDefinitionPtr definition;
  std::string output;  ///< the part files get their names from it; empty: nothing is written
};

/// Of all ranks. Latencies are of packets that were sent, from the planned time of the oldest hit.
struct LiveRunResult {
  LiveCount count;
  std::uint64_t built = 0;  ///< hits that reached event building
  std::uint64_t dead = 0;   ///< hits that builders were told are left out
  std::uint64_t events = 0;
  std::uint64_t problems = 0;      ///< packets that were damaged on the way, and slices that do not balance
  std::uint64_t lost_packets = 0;  ///< sent, but their slice was never built
  double seconds = 0;              ///< from the start until the last slice was written
  double clock_error_ns = 0;       ///< by which the ranks' clocks may differ
  LatencyHistogram received;       ///< its builder has all messages of the slice, and begins to build it
  LatencyHistogram built_at;       ///< the events of the slice are defined
  LatencyHistogram written;        ///< they are handed to the writer, which gives HDF5 each chunk that is full

  [[nodiscard]] bool balances() const {
    return count.made == built + count.dropped && count.made == count.sent + count.dropped && dead == count.dropped &&
           problems == 0 && lost_packets == 0;
  }
  void add(const LiveRunResult& other);
};

/// Collective; the same result on every rank.
LiveRunResult run_live(const LiveRunSettings& settings, const Communicator& communicator);

}  // namespace eventloom
