#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/control/collective.hpp"
#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/event_sink.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/engine/role.hpp"
#include "core/engine/run_control.hpp"
#include "core/engine/slice_output.hpp"
#include "core/engine/source_role.hpp"
#include "core/engine/wiring.hpp"
#include "core/monitor/telemetry.hpp"

namespace eventloom {

/// All alike on all ranks.
struct SessionSettings {
  WiringSettings wiring;  ///< the roles of the ranks, and the slices that are finished
  SliceBuilderSettings building;
  EventFilter filter;
  std::size_t builder_threads = 1;      ///< slices that a builder builds at a time
  double speed = 0;                     ///< see SourceRoleSettings
  LivePatience patience = {};           ///< what follows from the geometry and the first slice is filled in
  std::chrono::nanoseconds duration{};  ///< of the session; 0: until its sources end
  bool live = false;                    ///< a source of any rank is
  bool all_live = false;
  TelemetrySettings telemetry = {};  ///< the number of writers is filled in
};

/// What a rank plays a session with. All of it must outlive the session.
struct SessionHost {
  Network& network;  ///< the ranks that play it: of a program all, or some
  RankWatch& watch;
  IdlePolicy& idle;
  SteadyClock clock = steady_now;
};

/// What a session hands on. All of it is called by the thread of the rank, until run() has ended.
struct SessionEnds {
  /// Where the selected events of a writer go: of a filter, or of a builder where there are none. Called once for each
  /// that plays on this rank. May throw UserError.
  std::function<EventSink&(std::uint32_t writer)> sink_of;
  /// Where the time-sorted hits of a builder go, in rising slices. Empty: they are not kept. May throw UserError.
  std::function<std::function<void(const SortedSlice&)>(BuilderId builder)> sorted_sink_of = {};
  /// Sees each slice when it has been built; may be empty.
  std::function<void(const BuiltSlice&)> watch_built = {};
  /// Is told of each epoch buffer that is dropped.
  std::function<void(const BuildProblem&)> report;
};

class BuilderRole;

/// All that one rank does between the first slice of a run and the last: its roles, connected by rings. Construction,
/// begin(), run() and destruction are collective.
///
/// A session depends on its ranks, their roles and the slices that are finished, and on nothing that was before: what
/// one has left undone, another plays to the end, on the same ranks or on others, where its sources begin at
/// wiring.schedule.first_slice again and `finished` holds what has been written. A rank that RankWatch::end_program()
/// takes out of a session by an exception leaves it alone: its roles are gone, nothing is said to the others, and what
/// it had put into their windows and not flushed need not have arrived.
class Session {
 public:
  /// Opens the rings, see Wiring.
  Session(SessionSettings settings, const SessionHost& host);

  /// Once. `sources`: of this rank. Throws UserError, the same on all ranks, when any of them cannot write.
  void begin(SessionEnds ends, std::vector<SourceRole::LocalSource> sources);
  /// After begin(). Every role takes its turn until all ranks have nothing left to do, or have stopped in good order.
  /// `each_turn`: called once a turn. Throws UserError, the same on all ranks, when a role fails on any of them.
  void run(const std::function<void(SteadyTime)>& each_turn);

  [[nodiscard]] const Collective& ranks() const { return ranks_; }
  [[nodiscard]] RunControl& control() { return control_; }
  [[nodiscard]] const RunControl& control() const { return control_; }
  [[nodiscard]] Wiring& wiring() { return wiring_; }
  /// On rank 0, where telemetry was asked for: what is known of the run, after run() all of it. Null elsewhere.
  [[nodiscard]] const RunPicture* picture() const;
  /// Null on ranks without sources.
  [[nodiscard]] SourceRole* sources() { return sources_; }
  [[nodiscard]] const SourceRole* sources() const { return sources_; }

 private:
  void add_filter(FilterId id);
  void add_builder(BuilderId id);
  void add_sources(std::vector<SourceRole::LocalSource> sources, std::function<std::int64_t()> since_start);
  [[nodiscard]] std::unique_ptr<SliceOutput> output_of(BuilderId id);
  [[nodiscard]] EventSink& sink_of(std::uint32_t writer);
  void count(RankRecord& record) const;

  SessionSettings settings_;
  SessionEnds ends_;
  const Collective& ranks_;
  RunControl control_;
  Wiring wiring_;
  std::vector<std::unique_ptr<Role>> roles_;  ///< what drains comes before what pushes
  SourceRole* sources_ = nullptr;             ///< the one among roles_
  std::vector<const BuilderRole*> builders_;  ///< those among roles_
  std::unique_ptr<Telemetry> telemetry_;      ///< null where it was not asked for
  SteadyClock clock_;
};

}  // namespace eventloom
