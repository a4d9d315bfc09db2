#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/control/heartbeat.hpp"
#include "core/engine/event_loop.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/engine/source_role.hpp"
#include "core/transport/network.hpp"
#include "formats/offset_span.hpp"

namespace eventloom {

/// Controls a run, identically on all ranks: pauses and resumes it, and ends it when all work is done, when a source
/// fails, or when a command, a signal or a failing writer requests an orderly stop. Reports ranks that do not answer,
/// and ends the program when one is lost or silent for longer than the user allows.
///
/// A command (see Command) takes effect in the same heartbeat round on all ranks. To pause, all sources freeze, and
/// then continue up to the highest slice that any of them has begun, so that every slice begun is built. For an orderly
/// stop, they end there. A run with live sources that is stopped by SIGINT, SIGTERM or the end of its duration is
/// complete: its data end there. During a pause, live data are still received while there is room; the run's duration
/// keeps counting, the time of a paced replay does not. A run with no slice left to begin ends even while paused.
class RunControl final : public Ending {
 public:
  /// Construction and destruction are collective. `watch` must outlive this object. `duration` of the run; 0: until its
  /// sources end.
  RunControl(RankWatch& watch, std::chrono::nanoseconds duration, Network& network);

  /// The run has live sources; `all`: it has no others. `offsets`: span of the time corrections of all sources.
  void set_live(bool all, SliceId first_slice, const SliceGeometry& geometry, OffsetSpan offsets) {
    all_live_ = all;
    first_slice_ = first_slice;
    live_geometry_ = geometry;
    offsets_ = offsets;
  }
  /// The sources of this rank, if any; they must outlive the loop. `speed`: see SourceRoleSettings.
  void set_sources(SourceRole* sources, double speed) {
    sources_ = sources;
    speed_ = speed;
  }
  /// Called on every rank when a new file is requested.
  void set_new_file(std::function<void()> begin) { new_file_ = std::move(begin); }
  /// The slices before it are on disk: the sources of all ranks are informed. Any rank may call it.
  void set_safe(SliceId slice) { safe_end_ = slice; }
  /// Sends a request to all ranks: one per round, in the order made. Stop and end take precedence and cancel pending
  /// requests; end outranks stop. May be called at any time, from the rank's own thread only.
  void ask(const Request& request);
  void ask(Command command, Cause cause = Cause::command) { ask(Request{.command = command, .cause = cause}); }
  /// This rank cannot write its output (Cause::writer) or cannot judge its events (Cause::judge), for the reason `why`:
  /// requests an orderly stop.
  void stop_for(Cause cause, const std::string& why);

  bool over(SteadyTime now, bool done, std::size_t work) override;
  void fail(const UserError& error) override { error_ = error.what(); }

  /// After the loop, the same on all ranks: the cause, such as "SIGUSR1"; empty if no rank requested a stop.
  [[nodiscard]] const std::string& stopped_by() const { return stopped_by_; }
  /// After the loop, likewise.
  [[nodiscard]] std::optional<Cause> stop_cause() const { return stop_cause_; }
  /// After the loop: whether the data end where the run was stopped, so that it is complete.
  [[nodiscard]] bool ended() const { return ends_; }
  /// After the loop: the data end before this slice, if the run was ended so.
  [[nodiscard]] std::optional<SliceId> end_slice() const { return end_slice_; }
  /// Whether the run was paused in the last round.
  [[nodiscard]] bool paused() const { return paused_; }
  /// Speed at which recordings are sent, as of the last round.
  [[nodiscard]] double speed() const { return speed_; }
  /// Whether the run is ending on request, as of the last round.
  [[nodiscard]] bool stopping() const { return stopping_; }
  /// Why this rank is about to end the program: a rank is lost, or has been silent for too long. Otherwise empty.
  [[nodiscard]] const std::string& failure() const { return failure_; }
  /// The ranks that this one waits for.
  [[nodiscard]] Heartbeat::Silence silence(SteadyTime now) const { return heartbeat_.silence(now); }
  /// Heartbeat rounds in which this rank has taken part.
  [[nodiscard]] std::uint64_t rounds() const { return heartbeat_.reports_made(); }
  /// After the loop: the error of a role of this rank, or empty.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] RankStatus status(bool done) const;
  void leave_out_absence(SteadyTime now);
  void end_after_loss(SteadyTime now, int lost);
  void end_as_reported(SteadyTime now);
  void ask_for_signal();
  void follow(const Verdict& verdict);
  void obey(const Verdict& verdict);
  void go_up_to(const Verdict& verdict);
  void pause(const Verdict& verdict);
  void resume(const Verdict& verdict);
  void change_speed(const Verdict& verdict);
  void begin_files(const Verdict& verdict);
  void begin_stop(const Verdict& verdict);
  void stop_sources(const Verdict& verdict);
  [[nodiscard]] SliceId live_end(const Verdict& verdict) const;
  void look_for_silence(SteadyTime now);
  void look_for_progress(SteadyTime now, const Verdict& verdict);
  void report_of_silence(const Heartbeat::Silence& silence);
  void report_on_termination(const Heartbeat::Silence& silence);
  void end_after_silence(SteadyTime now, const Heartbeat::Silence& silence);
  /// Only one rank reports about `rank`, so that each line appears once.
  [[nodiscard]] bool speaks_about(int rank) const { return rank_ == (rank == 0 ? 1 : 0); }

  RankWatch& watch_;
  int rank_;
  Heartbeat heartbeat_;
  SourceRole* sources_ = nullptr;
  double speed_ = 0;
  std::chrono::nanoseconds duration_;
  SteadyTime begun_{};
  bool all_live_ = false;
  SliceId first_slice_{};
  std::optional<SliceGeometry> live_geometry_;
  OffsetSpan offsets_;
  bool ends_ = false;  ///< stopping, and the data end here
  std::optional<SliceId> end_slice_;
  SliceId safe_end_{};               ///< known to this rank
  std::uint64_t reported_safe_ = 0;  ///< passed to its sources
  std::uint64_t progress_ = 0;
  std::deque<Request> asked_;  ///< requests of this rank, not yet reported
  std::function<void()> new_file_;
  bool signalled_ = false;
  bool time_over_ = false;
  bool frozen_ = false;    ///< awaits a pause or a stop; the next round sets how far the sources go
  bool paused_ = false;    ///< frozen, or continues only to the slice of the pause
  bool stopping_ = false;  ///< frozen, or continues only to the slice of the stop
  bool over_ = false;
  std::string stopped_by_;
  std::optional<Cause> stop_cause_;
  std::string error_;
  std::string failure_;
  SteadyTime last_turn_{};
  SteadyTime loss_seen_{};
  SteadyTime reported_to_end_{};
  SteadyTime next_silence_look_{};
  std::chrono::nanoseconds reported_silence_{};  ///< length of the silence when it was last reported
  bool reported_termination_ = false;
  SteadyTime ending_{};  ///< when this rank decided to end because a rank is silent
  std::uint64_t seen_progress_ = 0;
  SteadyTime moved_{};
  std::chrono::nanoseconds reported_standstill_{};
};

}  // namespace eventloom
