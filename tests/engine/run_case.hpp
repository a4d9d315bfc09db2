#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/histogram_set.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/detector/detector.hpp"
#include "core/engine/role_layout.hpp"
#include "core/monitor/run_picture.hpp"
#include "core/monitor/telemetry_settings.hpp"
#include "event_reference.hpp"
#include "formats/control_wire.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "formats/ring_layout.hpp"
#include "schedulers/scheduler.hpp"
#include "simulated_ranks.hpp"
#include "test_sources.hpp"

namespace eventloom::test {

/// A command that a rank requests, ns after the beginning.
struct TimedCommand {
  int rank = 0;
  std::int64_t at_ns = 0;
  Command command = Command::none;
  double speed = 0;  ///< the speed requested
};

/// Events that are built beside those of RunCase::definition.
struct FurtherEvents {
  std::string definition;
  Tick overlap = 0;
};

/// A whole run, with everything that it depends on.
struct RunCase {
  SimulationSettings simulation;
  Roles roles;
  RingGeometry ring{4, 256};
  std::string schedule = "round-robin";
  std::string table_text = {};  ///< if the schedule is a table
  std::uint64_t slot_ns = 0;
  std::uint32_t slices_in_flight = 2;
  std::uint32_t transfers_in_flight = 0;  ///< 0: chosen by the length of messages
  TimeBase base{1000, 100};
  std::uint64_t epochs_per_slice = 3;
  std::string definition = "gap:5,2";
  Tick overlap = 60;
  std::vector<FurtherEvents> further = {};
  std::vector<std::string> filter = {};    ///< expressions that hold for the events kept, see RefExpression
  std::vector<std::uint8_t> payload = {};  ///< number of words of each hit, by source; empty: no payload
  std::size_t threads = 1;                 ///< of each builder
  TickRange stretch = kAllTime;            ///< hits at other times are dropped
  bool as_files = false;                   ///< recordings are read like tables, in any order
  bool unique = false;                     ///< likewise, without copies of hits
  double speed = 0;
  std::chrono::nanoseconds duration{};
  std::chrono::nanoseconds epoch_timeout{};
  std::chrono::nanoseconds quiet{};  ///< see LivePatience
  std::size_t live_buffer = std::size_t{1} << 20;
  SliceId first_slice;
  std::vector<SliceId> finished;                    ///< ascending, from first_slice on
  std::vector<std::vector<RefHit>> hits;            ///< by source, in the order of its stream
  std::vector<std::vector<Arrival>> arrivals = {};  ///< by source; empty: it is a recording
  int signal = 0;                                   ///< delivered to one of the ranks; 0: none
  std::int64_t signal_after_ns = 0;
  std::vector<TimedCommand> commands = {};  ///< ascending in time
  StallSettings stalls = {};
  Absence absence = {};                   ///< ns after the beginning
  Standstill standstill = {};             ///< likewise
  std::int64_t peer_lost_after_ns = 0;    ///< all ranks see it; 0: never
  std::optional<Roles> roles_after = {};  ///< the roles with which the others continue when a rank never answers again
  std::uint64_t kept_of_lost = 0;         ///< the first slices of each writer lost with it that are safe
  std::uint64_t sink_fails_after = 0;     ///< slices of one writer; 0: never
  bool sink_stops = false;                ///< the sink then requests a clean stop; otherwise it throws
  std::uint64_t damaged = 0;              ///< one in this many epochs of a recording has a wrong bit; 0: none
  std::uint32_t epochs_per_buffer = 3;    ///< of recordings, at most
  bool breaks_off = false;                ///< the recording of source 0, after its last hit
  bool keep_sorted = false;
  std::uint64_t source_fails_after = 0;  ///< collects of source 0; 0: never
  DetectorPtr detector = std::make_shared<Detector>();
  TelemetrySettings telemetry = {};
  std::shared_ptr<const HistogramSet> histograms = {};
  std::vector<std::size_t> looked_at = {};  ///< histograms, in every turn of rank 0

  [[nodiscard]] SliceGeometry geometry() const;
  [[nodiscard]] bool live() const { return !arrivals.empty(); }
  [[nodiscard]] bool with_payload() const {
    return std::ranges::any_of(payload, [](auto words) { return words != 0; });
  }
  [[nodiscard]] PayloadTable payload_of(std::size_t source) const;
  [[nodiscard]] SliceSet finished_set() const;
  [[nodiscard]] bool is_damaged(std::uint16_t source, Epoch epoch) const {
    return damaged != 0 && (epoch.value + source) % damaged == 0;
  }
  /// For a scheduler that states what a session with these roles should have done.
  [[nodiscard]] ScheduleSettings schedule_settings(const Roles& of) const;
};

struct WrittenSlice {
  std::uint32_t writer = 0;
  BuiltSlice slice;
  std::int64_t at_ns = 0;
  int by = 0;          ///< rank of its session
  bool after = false;  ///< written by those that continued without one rank
};

/// A source hands a slice to the exchange.
struct Transfer {
  std::uint16_t source = 0;
  std::uint64_t slice = 0;
  std::int64_t at_ns = 0;
};

/// The outcome of a case.
struct Outcome {
  std::map<std::uint64_t, WrittenSlice> slices;
  std::vector<std::map<std::uint64_t, BuiltSlice>> further;  ///< in the order of RunCase::further
  std::vector<std::string> errors;                           ///< by rank; empty: none
  std::string stopped_by;
  bool cut_off = false;
  std::uint64_t hits_read = 0;
  std::int64_t took_ns = 0;                          ///< simulated
  std::vector<std::string> faults;                   ///< violated invariants
  std::map<std::uint64_t, int> built_on;             ///< rank by slice
  std::map<std::uint64_t, std::uint32_t> sorted_by;  ///< builder by slice, where sorted hits are kept
  std::vector<Transfer> transfers;
  std::int64_t slots_begin_ns = 0;  ///< since the beginning, exact
  std::vector<int> new_files;       ///< by rank: how often new files were requested
  std::vector<bool> paused;         ///< by rank, as it knows
  std::int64_t paused_ns = 0;       ///< how long all ranks were paused
  std::int64_t all_paused_since = 0;
  std::vector<std::int64_t> ended_at_ns;          ///< when ranks left because the run could not continue
  std::vector<std::vector<std::uint64_t>> cells;  ///< by histogram: rank 0's at the end
  std::uint64_t cells_bytes = 0;                  ///< about histograms, received by all ranks
  RunPicture picture;                             ///< rank 0's at the end, if telemetry was enabled
  std::map<std::uint64_t, std::int64_t> sent_at;  ///< by slice, ns after the beginning: first collected by a source
};

/// Plays the case. Rethrows errors that the ranks do not share.
Outcome play(const RunCase& of);

/// "gap:5,2, 3 sources, ...": the case in a line, for messages.
std::string text_of(const RunCase& of);

}  // namespace eventloom::test
