#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/tools/bench/sink_role.hpp"
#include "app/tools/bench/synthetic_source.hpp"
#include "core/engine/ring_rule.hpp"
#include "core/engine/wiring.hpp"
#include "core/mpi/communicator.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// [sending rank][receiving rank]. Source r and builder r are on rank r.
using Connections = std::vector<std::vector<std::uint8_t>>;

/// Patterns: one-to-one, one-to-all, all-to-one, all-to-all, fixed-target. A rank sends to itself only if it is the
/// only rank. Throws std::invalid_argument, which lists the names.
Connections connections_of(const std::string& pattern, int ranks);
std::vector<std::string> pattern_names();

struct TrafficSettings {
  Connections connections;
  ScheduleSettings schedule;
  RingGeometry ring;
  std::uint64_t message_bytes = 0;
  double spread = 0;  ///< spread of the message sizes, see PayloadPool
  SyntheticSource::Limits limits;
  Receive receive = Receive::look;
  std::vector<std::chrono::nanoseconds> build_time;  ///< time per slice, one per builder; empty: 0
  double bin_seconds = 0.01;                         ///< bin width of the rate over time
  std::optional<TimesKept> times;                    ///< time each message; std::nullopt: none
  double control = 0;                                ///< reports to the controller per message; 0: no control traffic
};

struct Connection {
  int from = 0;
  int to = 0;
  SinkCount count;
};

/// Totals over all ranks, identical on every rank.
struct TrafficResult {
  double seconds = 0;  ///< time from the common start to the last message received by any rank
  std::vector<Connection> connections;
  Counters sent;             ///< see SourceRole::counters()
  std::uint64_t slices = 0;  ///< completely received, by all builders
  std::vector<std::uint64_t> slices_of_builder;
  std::vector<ClockQuality> clocks;    ///< one per rank, on rank 0, if clocks keep the slots
  std::uint64_t assignment_notes = 0;  ///< notes sent by the assigner, if builders claim
  std::uint64_t control_messages = 0;  ///< reports and broadcasts
  MeasuredTimes times;                 ///< times of the messages, if they are timed, on rank 0; see MessageTimes
  std::uint64_t retransmits = 0;       ///< TCP segments retransmitted meanwhile by the hosts of the ranks

  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t messages() const;
  [[nodiscard]] std::uint64_t wrong_chunks() const;
};

/// Returns bytes per microsecond and rank. If senders and receivers differ in number, counts the smaller group: data
/// sent by the one sender of one-to-all, or received by a rank of all-to-all.
double rate_per_rank(const Connections& connections, double bytes, double seconds);

/// Collective. Sizes the rings for this traffic as a run would, unless `options` sets their size.
RingGeometry ring_for(const TrafficSettings& settings, const Collective& ranks, const RingOptions& options);

/// Collective. Moves messages through the same outboxes, rings and schedulers as a run, from synthetic sources to
/// builders that do not build.
TrafficResult run_traffic(const TrafficSettings& settings, const Communicator& communicator);

/// Collective. Measures the ceiling: MPI_Put and MPI_Win_flush of the same messages from the same memory into the same
/// cells, in the order of a barrel shifter, without notification or reception. Returns bytes per microsecond, as
/// rate_per_rank() does.
double bare_put_rate(const TrafficSettings& settings, const Communicator& communicator);

/// Returns the memcpy rate of the same messages within this rank, in bytes per microsecond. Not collective.
double memcpy_rate(const TrafficSettings& settings, double seconds);

}  // namespace eventloom
