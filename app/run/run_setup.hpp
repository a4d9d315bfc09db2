#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/run/run_definition.hpp"
#include "app/run/run_sources.hpp"
#include "app/run/source_info.hpp"
#include "core/engine/ring_rule.hpp"
#include "core/engine/role_layout.hpp"
#include "core/engine/source_role.hpp"
#include "core/engine/wiring.hpp"
#include "core/mpi/communicator.hpp"
#include "formats/slice_set.hpp"
#include "io/event_files/event_target.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// How data move between the ranks.
struct ExchangeSettings {
  std::uint32_t builders = 0;  ///< 0: one per rank
  std::uint32_t filters = 0;
  ScheduleSettings schedule;  ///< name and slots
  RingOptions ring;
  InFlight in_flight;
};

/// A run ready to start: the same on every rank except `local`.
struct RunSetup {
  Roles roles;
  ScheduleSettings schedule;  ///< with the contents of its file
  RingSize ring;
  RunDefinition run;
  std::string in_force;  ///< lengths and rings, for messages and the record
  RunDetector detector;
  std::vector<SourceInfo> streams;  ///< streams to read, by number
  std::vector<SourceInfo> sources;  ///< sources of the hits, by number: the streams, unless those are sorted ones
  std::optional<SortedInput> sorted;
  std::vector<OffsetSpan> offsets;  ///< of the corrections to the times of each stream; empty: there are none
  bool with_payload = false;
  bool numbered = false;           ///< times are event numbers
  bool live = false;               ///< any source is
  bool all_live = false;           ///< all sources are
  std::int64_t started_ns = 0;     ///< Unix time of tick 0 as a live source states, for latencies; 0: unknown
  std::string time_of_tick_0;      ///< UTC, by --time-origin or the sources; empty: unknown
  EventFileRun event_files;        ///< what list-mode data state, with --also or --tap
  bool time_over = false;          ///< --duration has passed while waiting for live sources
  SliceId first_slice;             ///< of the earliest data of any source; of a resumed run: the first unfinished
  SliceSet finished;               ///< slices finished by an earlier run
  std::vector<std::string> hosts;  ///< by rank
  std::vector<SourceRole::LocalSource> local;
};

/// Where the earliest data of any source are, though others may lack some there.
SliceId first_slice_with_data(const RunSetup& setup);

/// Who follows how a run is set up.
struct SetupWatch {
  /// Called once, before the sources are open: with their URIs for names, whether any is live, roles and hosts.
  std::function<void(const RunSetup&)> expected;
  /// Called now and then while live sources are waited for, see wait_for_live().
  std::function<void(std::size_t live, std::size_t known)> each_turn;
};

/// Collective. Opens the sources, each on its rank, and describes them to all ranks. When any rank meets an error all
/// throw the same UserError.
RunSetup set_up_run(const SourceSettings& sources, const BuildingSettings& building, const ExchangeSettings& exchange,
                    const Communicator& communicator, const SetupWatch& watch);

}  // namespace eventloom
