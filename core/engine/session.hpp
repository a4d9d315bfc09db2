#pragma once

#include <functional>
#include <memory>
#include <span>
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
#include "core/monitor/histogram_feed.hpp"
#include "core/monitor/telemetry.hpp"

namespace eventloom {

/// Identical on all ranks.
struct SessionSettings {
  WiringSettings wiring;  ///< the roles of the ranks, and the finished slices
  SliceBuilderSettings building;
  EventFilter filter;
  std::size_t builder_threads = 1;      ///< slices built at a time per builder
  double speed = 0;                     ///< see SourceRoleSettings
  LivePatience patience = {};           ///< the session fills in what follows from the geometry and the first slice
  std::chrono::nanoseconds duration{};  ///< 0: until its sources end
  bool live = false;                    ///< any source of any rank is live
  bool all_live = false;
  TelemetrySettings telemetry = {};  ///< the session fills in the number of writers
};

/// The environment of a session on its rank. All members must outlive the session.
struct SessionHost {
  Network& network;  ///< the ranks of the session: all ranks of the program, or some
  RankWatch& watch;
  IdlePolicy& idle;
  SteadyClock clock = steady_now;
};

/// The outputs of a session on its rank. Called only from the rank's own thread, between Session::begin() and the
/// return of Session::run().
class SessionEnds {
 public:
  virtual ~SessionEnds() = default;

  /// Returns a writer's sinks for the selected events, one per kind of events. A writer is a filter, or a builder if
  /// there are no filters. Called once per writer on this rank. May throw UserError.
  virtual std::vector<EventSink*> sinks_of(std::uint32_t writer) = 0;
  /// Returns the writer's judge of events, or null. Called once per writer on this rank, after sinks_of(). May throw
  /// UserError.
  virtual EventJudge* judge_of(std::uint32_t /*writer*/) { return nullptr; }
  /// Returns the callback for the time-sorted hits of a builder, in ascending order of slices. Empty: they are not
  /// kept. May throw UserError.
  virtual std::function<void(const SortedSlice&)> sorted_sink_of(BuilderId /*builder*/) { return {}; }
  /// Called with the first kind of events of each built slice.
  virtual void watch_built(const BuiltSlice& /*slice*/) {}
  /// Called with each slice of the writers on this rank before its events are selected.
  virtual void watch_unselected(std::span<const BuiltSlice> /*built*/) {}
  /// Called on each rank when new files are requested, see Command.
  virtual void new_file() {}
  /// Replaces building where data exist only as lengths (Bodies::counted).
  virtual void stand_in(BuilderId /*builder*/, SliceId /*slice*/, const SliceAssembly& /*input*/) {}
  /// Adds further counts of this rank's outputs, for telemetry.
  virtual void count(Counters& /*counters*/) const {}
  /// Adds what this rank's writers of a kind of events have counted in cells of a histogram, see HistogramFeed.
  virtual void add_cells(std::size_t /*kind*/, std::size_t /*histogram*/, std::size_t /*begin*/,
                         std::span<std::uint64_t> /*cells*/) const {}
  /// Called for each epoch buffer that is dropped.
  virtual void report(const BuildProblem& problem) = 0;
};

class BuilderRole;

/// The part of one rank in a run, from the first slice to the last: its roles, connected by rings. Construction,
/// begin(), run() and destruction are collective.
///
/// A session depends only on its ranks, their roles and the finished slices: another session can complete what it has
/// left undone, on the same ranks or on others, if its sources begin at wiring.schedule.first_slice again and
/// `finished` holds the slices already written. A rank that leaves a session by an exception of
/// RankWatch::end_program() does so on its own: its roles are destroyed, the others are not notified, and its unflushed
/// puts into their windows may be lost.
class Session final : private TurnTask {
 public:
  /// Opens the rings, see Wiring.
  Session(SessionSettings settings, const SessionHost& host);

  /// Call once. `ends` must outlive run(). `sources`: those of this rank. Throws UserError, the same on all ranks, when
  /// any of them cannot write.
  void begin(SessionEnds& ends, std::vector<LocalSource> sources);
  /// Call after begin(). The roles take turns until no rank has work left, or all have stopped cleanly. Throws
  /// UserError, the same on all ranks, when a role fails on any of them.
  void run(std::vector<TurnTask*> tasks = {});

  [[nodiscard]] const Collective& ranks() const { return ranks_; }
  [[nodiscard]] RunControl& control() { return control_; }
  [[nodiscard]] const RunControl& control() const { return control_; }
  [[nodiscard]] Wiring& wiring() { return wiring_; }
  /// On rank 0, if telemetry is enabled: the state of the run, complete after run(). Null elsewhere.
  [[nodiscard]] const RunPicture* picture() const;
  /// Null unless telemetry includes pictures, and there are histograms.
  [[nodiscard]] HistogramFeed* histograms() { return histograms_.get(); }
  /// Adds the channels of the detector that have had hits at this rank's builders, hits without a position and
  /// spans, see SliceBuilder.
  void add_to(ChannelUse& use, UnplacedHits& unplaced, HitSpans& spans) const;
  /// Null on ranks without sources.
  [[nodiscard]] SourceRole* sources() { return sources_; }
  [[nodiscard]] const SourceRole* sources() const { return sources_; }

 private:
  void add_filter(FilterId id);
  void add_builder(BuilderId id);
  [[nodiscard]] std::vector<OffsetSpan> offsets() const;
  [[nodiscard]] LivePatience patience_for(const SourceRoleSettings& sending) const;
  void add_sources(std::vector<LocalSource> sources, std::function<std::int64_t()> since_start);
  [[nodiscard]] std::function<bool()> sending_first();
  [[nodiscard]] std::unique_ptr<SliceOutput> output_of(BuilderId id);
  [[nodiscard]] Selector selector_of(std::uint32_t writer);
  void count(RankRecord& record) const;
  void open_feed(Network& network);
  void turn(SteadyTime now) override;

  SessionSettings settings_;
  SessionEnds* ends_ = nullptr;  ///< null before begin()
  const Collective& ranks_;
  RunControl control_;
  Wiring wiring_;
  LentSlices lent_;
  std::vector<std::unique_ptr<Role>> roles_;  ///< receivers before senders
  SourceRole* sources_ = nullptr;             ///< owned by roles_
  std::vector<const BuilderRole*> builders_;  ///< owned by roles_
  std::unique_ptr<Telemetry> telemetry_;      ///< null if disabled
  std::unique_ptr<HistogramFeed> histograms_;
  SteadyClock clock_;
  IdlePolicy& idle_;
};

}  // namespace eventloom
