#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "app/run/event_latency.hpp"
#include "app/run/explained_events.hpp"
#include "app/run/resumable_writer.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_taps.hpp"
#include "core/engine/session.hpp"
#include "io/sorted/sorted_writer.hpp"

namespace eventloom {

/// Settings of the session of a run.
SessionSettings session_settings(const RunConfig& config, const RunSetup& setup);

/// One rank of a run: plays a session of the engine, with its output files and messages. Construction, work() and
/// destruction are collective; the arguments must outlive it.
class RankRun {
 public:
  /// Takes the local sources out of `setup`. `resumptions`: one for each definition. Throws UserError, the same on all
  /// ranks, when any of them cannot write.
  RankRun(const RunConfig& config, RunSetup& setup, const std::vector<Resumption>& resumptions, RunTaps& taps,
          Session& session);

  /// Every role takes its turn until no rank has work left, or all have stopped in good order. Throws UserError, the
  /// same on all ranks, when an input fails on any of them. Collective.
  void work(TurnTask& view) { session_.run({&taps_, &view}); }

  /// Ends the part files and reports on this rank, for each definition. Collective; throws UserError like work().
  std::vector<RunResult> close();

 private:
  /// A writer of the events of one definition.
  struct Writer {
    std::size_t definition;
    std::unique_ptr<ResumableWriter> to;
  };
  std::vector<EventSink*> add_writers(std::uint32_t number);
  EventSink& tapped(std::uint32_t number, EventSink& writer);
  EventSink& add_writer(std::uint32_t number, std::size_t definition);
  [[nodiscard]] CompanionSettings companions_of(std::uint32_t writer, const DefineOption& define,
                                                const WriterPlace& place) const;
  [[nodiscard]] RunResult common_result();
  void close_writers(std::vector<RunResult>& results);
  std::function<void(const SortedSlice&)> keep_sorted(BuilderId id);
  [[nodiscard]] bool unfinished() const;
  void leave_scratch();
  void finish_sorted(RunResult& result);
  void report(const BuildProblem& problem);

  const RunConfig& config_;
  RunSetup& setup_;
  const std::vector<Resumption>& resumptions_;
  RunTaps& taps_;
  Session& session_;
  std::vector<Writer> writers_;
  std::vector<std::unique_ptr<TappedSink>> tapped_;
  std::vector<std::unique_ptr<SortedWriter>> sorted_;
  std::optional<EventLatency> latency_;          ///< if the sources state their start time
  std::vector<ExplainedEvents> explained_;       ///< by definition, if they were asked for
  std::uint64_t told_out_of_step_ = 0;           ///< messages of this kind
  std::map<std::uint16_t, std::uint64_t> told_;  ///< messages of dropped epoch buffers, by source
};

}  // namespace eventloom
