#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/command/realtime.hpp"
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

/// How data are exchanged between the ranks.
struct ExchangeSettings {
  std::uint32_t builders = 0;  ///< 0: one per rank
  std::uint32_t filters = 0;
  ScheduleSettings schedule;  ///< name and slot length
  RingOptions ring;
  InFlight in_flight;
};

/// A run that is ready to start. Identical on all ranks except `local`.
struct RunSetup {
  Roles roles;
  ScheduleSettings schedule;  ///< including the contents of its file
  RingSize ring;
  RunDefinition run;
  std::string in_force;  ///< description of the lengths and rings in use
  RunDetector detector;
  std::vector<SourceInfo> streams;  ///< streams to read, indexed by number
  std::vector<SourceInfo> sources;  ///< sources of the hits: the streams, unless these are time-sorted
  std::optional<SortedInput> sorted;
  std::vector<OffsetSpan> offsets;  ///< span of the time corrections of each stream; empty: no corrections
  bool with_payload = false;
  bool numbered = false;        ///< times are event numbers
  bool live = false;            ///< any source is live
  bool all_live = false;        ///< all sources are live
  bool any_followed = false;    ///< any source is followed: a resumed run reads what it had not finished again
  std::int64_t started_ns = 0;  ///< Unix time of tick 0 as stated by a live source, for latencies; 0: unknown
  std::string time_of_tick_0;   ///< UTC, from --time-origin or the sources; empty: unknown
  EventFileRun event_files;     ///< properties that list-mode data state, with --also or --tap
  bool time_over = false;       ///< --duration elapsed while waiting for live sources
  SliceId first_slice;          ///< slice of the earliest data of any source; in a resumed run the first unfinished one
  SliceSet finished;            ///< slices finished by an earlier invocation
  std::vector<std::string> hosts;      ///< indexed by rank
  std::vector<RankRealtime> realtime;  ///< indexed by rank; empty without --realtime
  std::vector<LocalSource> local;
};

/// The roles of a run of these sources. Throws UserError if there are too many.
Roles assign_roles(const ExchangeSettings& exchange, const std::vector<SourceSpec>& specs, int ranks);

/// Returns the slice of the earliest data of any source; others may lack data there.
SliceId first_slice_with_data(const RunSetup& setup);

/// Collective. Opens the feeds of the run's sources, see keep_feeds(). Throws UserError, the same on all ranks.
void keep_feeds(const SourceSettings& sources, const ExchangeSettings& exchange, const Collective& ranks,
                FeedsKept which = FeedsKept::all);

/// Observes how a run is set up.
class SetupWatch : public LiveWait {
 public:
  /// Called once, before the sources are open. Their names are still their URIs; roles, hosts and whether any source is
  /// live are known.
  virtual void expect(const RunSetup& expected) = 0;
};

/// Collective. Opens the sources, each on its rank, and describes them to all ranks. If any rank meets an error, all
/// throw the same UserError.
RunSetup set_up_run(const SourceSettings& sources, const BuildingSettings& building, const ExchangeSettings& exchange,
                    const Communicator& communicator, SetupWatch& watch);

}  // namespace eventloom
