#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "app/run/event_latency.hpp"
#include "app/run/explained_events.hpp"
#include "app/run/filter_command.hpp"
#include "app/run/output_settings.hpp"
#include "app/run/resumable_writer.hpp"
#include "app/run/run_replies.hpp"
#include "app/run/run_result.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_taps.hpp"
#include "app/run/run_view.hpp"
#include "core/engine/session.hpp"
#include "core/runtime/message_limit.hpp"
#include "io/sorted/sorted_writer.hpp"

namespace eventloom {

/// Returns the settings of the run's session.
SessionSettings session_settings(const SourceSettings& sources, const BuildingSettings& building,
                                 const ExchangeSettings& exchange, const ViewSettings& view, const RunSetup& setup);

/// One rank of a run: plays a session of the engine, and provides its output files and messages. Construction, work(),
/// close() and destruction are collective; the arguments must outlive this object.
class RankRun final : SessionEnds {
 public:
  /// Moves the local sources out of `setup`. `resumptions`: one per definition. Throws UserError, the same on all
  /// ranks, if any rank cannot write.
  RankRun(const OutputSettings& output, RunSetup& setup, const std::vector<Resumption>& resumptions, RunTaps& taps,
          RunReplies& replies, Session& session);

  /// The roles take turns until no rank has work left, or all have stopped cleanly. Throws UserError, the same on
  /// all ranks, if an input fails on any rank.
  void work(TurnTask& view, TurnTask& safe_work) { session_.run({&taps_, &view, &safe_work}); }

  /// Ends the part files and returns the results of this rank, one per definition. Throws UserError like work().
  std::vector<RunResult> close();

 private:
  struct Writer {
    std::size_t definition;
    std::unique_ptr<ResumableWriter> to;
  };
  std::vector<EventSink*> sinks_of(std::uint32_t number) override;
  EventJudge* judge_of(std::uint32_t writer) override;
  std::function<void(const SortedSlice&)> sorted_sink_of(BuilderId id) override;
  void watch_built(const BuiltSlice& slice) override;
  void watch_unselected(std::span<const BuiltSlice> built) override;
  void new_file() override;
  void count(Counters& counters) const override;
  void add_cells(std::size_t kind, std::size_t histogram, std::size_t begin,
                 std::span<std::uint64_t> cells) const override;
  void report(const BuildProblem& problem) override;
  EventSink& tapped(std::uint32_t number, EventSink& writer);
  EventSink& replying(std::uint32_t number, std::size_t definition, EventSink& writer);
  EventSink& add_writer(std::uint32_t number, std::size_t definition);
  [[nodiscard]] CompanionSettings companions_of(std::uint32_t writer, const DefinitionOutput& run,
                                                const WriterPlace& place) const;
  [[nodiscard]] RunResult common_result();
  [[nodiscard]] bool unfinished() const;
  void leave_scratch();
  void finish_sorted(RunResult& result);

  const OutputSettings& output_;
  RunSetup& setup_;
  const std::vector<Resumption>& resumptions_;
  RunTaps& taps_;
  RunReplies& replies_;
  Session& session_;
  std::vector<Writer> writers_;
  std::vector<std::unique_ptr<TappedSink>> tapped_;
  std::vector<std::unique_ptr<ReplyingSink>> replying_;
  std::vector<std::unique_ptr<FilterCommand>> filter_commands_;  ///< one per writer, or none
  std::vector<std::unique_ptr<SortedWriter>> sorted_;
  std::optional<EventLatency> latency_;             ///< set if the sources state the time of tick 0
  std::vector<ExplainedEvents> explained_;          ///< indexed by definition; empty without --explain
  MessageLimit reported_out_of_step_;               ///< messages about events that are out of step
  std::map<std::uint16_t, MessageLimit> reported_;  ///< messages about dropped epoch buffers, by source
};

}  // namespace eventloom
