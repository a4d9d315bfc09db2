#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "core/control/collective.hpp"
#include "core/dataflow/event_filter.hpp"
#include "core/dataflow/event_sink.hpp"
#include "core/dataflow/slice_builder.hpp"
#include "core/engine/role.hpp"
#include "core/engine/run_control.hpp"
#include "core/engine/slice_output.hpp"
#include "core/engine/source_role.hpp"
#include "core/engine/wiring.hpp"

namespace eventloom {

struct SessionSettings {
  SliceBuilderSettings building;
  EventFilter filter;
  std::size_t builder_threads = 1;  ///< slices that a builder builds at a time
  double speed = 0;                 ///< see SourceRoleSettings
  LivePatience patience = {};       ///< what follows from the geometry and the first slice is filled in
};

/// What a session hands on. All of it is called by the thread of the rank and must outlive the session.
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

/// All that one rank does between the first slice of a run and the last: its roles, connected by rings. Construction,
/// run() and destruction are collective; the arguments must outlive it.
class Session {
 public:
  /// `sources`: of this rank. Throws UserError, the same on all ranks, when any of them cannot write.
  Session(const SessionSettings& settings, const SessionEnds& ends, std::vector<SourceRole::LocalSource> sources,
          Wiring& wiring, RunControl& control, const Collective& ranks);

  /// Every role takes its turn until all ranks have nothing left to do, or have stopped in good order. `each_turn`:
  /// called once a turn. Throws UserError, the same on all ranks, when a role fails on any of them.
  void run(IdlePolicy& idle, const std::function<void(SteadyTime)>& each_turn);

  /// Null on ranks without sources.
  [[nodiscard]] SourceRole* sources() { return sources_; }
  [[nodiscard]] const SourceRole* sources() const { return sources_; }

 private:
  void add_filter(const SessionSettings& settings, FilterId id);
  void add_builder(const SessionSettings& settings, BuilderId id);
  void add_sources(const SessionSettings& settings, std::vector<SourceRole::LocalSource> sources,
                   std::function<std::int64_t()> since_start);
  [[nodiscard]] std::unique_ptr<SliceOutput> output_of(const SessionSettings& settings, BuilderId id);

  const SessionEnds& ends_;
  Wiring& wiring_;
  RunControl& control_;
  const Collective& ranks_;
  std::vector<std::unique_ptr<Role>> roles_;  ///< what drains comes before what pushes
  SourceRole* sources_ = nullptr;             ///< the one among roles_
};

}  // namespace eventloom
