#pragma once

#include <cstdint>
#include <string>

#include "app/document/latency_histogram.hpp"
#include "app/tools/bench/live_source.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/engine/wiring.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Settings of one measurement with sources that make hits in real time.
struct LiveRunSettings {
  WiringSettings wiring;
  LiveSettings live;  ///< settings of every source; `id` and `since_start` are filled in
  EventDefinitionPtr definition;
  std::string output;  ///< prefix of the part files; empty: no files are written
};

/// Totals over all ranks. A latency counts from the planned time of the oldest hit of a packet that was sent.
struct LiveRunResult {
  LiveCount count;
  std::uint64_t built = 0;  ///< hits that reached event building
  std::uint64_t dead = 0;   ///< hits reported to builders as dropped
  std::uint64_t events = 0;
  std::uint64_t problems = 0;      ///< packets damaged in transit, and slices that do not balance
  std::uint64_t lost_packets = 0;  ///< sent, but their slice was never built
  double seconds = 0;              ///< time from the start until the last slice was written
  double clock_error_ns = 0;       ///< maximum difference between the ranks' clocks
  LatencyHistogram received;       ///< the builder has all messages of the slice and begins to build it
  LatencyHistogram built_at;       ///< the events of the slice are defined
  LatencyHistogram filtered;       ///< when a filter has received the events; empty without filters
  LatencyHistogram written;        ///< the slice was passed to the writer, which passes full chunks to HDF5

  [[nodiscard]] bool balances() const {
    return count.made == built + count.dropped && count.made == count.sent + count.dropped && dead == count.dropped &&
           problems == 0 && lost_packets == 0;
  }
  void add(const LiveRunResult& other);
};

/// Collective. Returns the same result on every rank.
LiveRunResult run_live(const LiveRunSettings& settings, const Communicator& communicator);

}  // namespace eventloom
