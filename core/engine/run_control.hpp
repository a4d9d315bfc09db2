#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/control/heartbeat.hpp"
#include "core/engine/event_loop.hpp"
#include "core/engine/rank_silence.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/engine/run_course.hpp"
#include "core/engine/run_requests.hpp"
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
    live_ = LiveRun{all, first_slice, geometry, offsets};
  }
  /// The sources of this rank, if any; they must outlive the loop. `speed`: see SourceRoleSettings.
  void set_sources(SourceRole* sources, double speed) {
    sources_ = sources;
    speed_ = speed;
  }
  /// Called on every rank when a new file is requested.
  void set_new_file(std::function<void()> begin) { new_file_ = std::move(begin); }
  /// Called on every rank when a reset of the histograms is requested, in the same round.
  void set_reset(std::function<void()> reset) { reset_ = std::move(reset); }
  /// The slices before it are on disk: the sources of all ranks are informed. Any rank may call it.
  void set_safe(SliceId slice) { safe_end_ = slice; }
  /// Sends a request to all ranks: one per round, in the order made. Stop and end take precedence and cancel pending
  /// requests; end outranks stop. May be called at any time, from the rank's own thread only.
  void ask(const Request& request) { requests_.ask(request); }
  void ask(Command command, Cause cause = Cause::command) { ask(Request{.command = command, .cause = cause}); }
  /// This rank cannot write its output (Cause::writer) or cannot judge its events (Cause::judge), for the reason `why`:
  /// requests an orderly stop.
  void stop_for(Cause cause, const std::string& why);

  bool over(SteadyTime now, bool done, std::size_t work) override;
  void fail(const UserError& error) override { error_ = error.what(); }

  /// After the loop, the same on all ranks: the cause, such as "SIGUSR1"; empty if no rank requested a stop.
  [[nodiscard]] std::string stopped_by() const { return stop_ ? cause_of(*stop_) : ""; }
  /// After the loop, likewise.
  [[nodiscard]] std::optional<Cause> stop_cause() const { return stop_ ? std::optional(stop_->cause) : std::nullopt; }
  /// After the loop: whether the data end where the run was stopped, so that it is complete.
  [[nodiscard]] bool ended() const { return course_.ends(); }
  /// After the loop: the data end before this slice, if the run was ended so.
  [[nodiscard]] std::optional<SliceId> end_slice() const { return course_.end(); }
  /// Whether the run was paused in the last round.
  [[nodiscard]] bool paused() const { return course_.paused(); }
  /// Speed at which recordings are sent, as of the last round.
  [[nodiscard]] double speed() const { return speed_; }
  /// Whether the run is ending on request, as of the last round.
  [[nodiscard]] bool stopping() const { return course_.stopping(); }
  /// Why this rank is about to end the program: a rank is lost, or has been silent for too long. Otherwise empty.
  [[nodiscard]] const std::string& failure() const { return silence_.failure(); }
  /// The ranks that this one waits for.
  [[nodiscard]] Heartbeat::Silence silence(SteadyTime now) const { return heartbeat_.silence(now); }
  /// Heartbeat rounds in which this rank has taken part.
  [[nodiscard]] std::uint64_t rounds() const { return heartbeat_.reports_made(); }
  /// After the loop: the error of a role of this rank, or empty.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  struct LiveRun {
    bool all = false;  ///< no source is recorded
    SliceId first_slice;
    SliceGeometry geometry;
    OffsetSpan offsets;
  };

  [[nodiscard]] RankStatus status(bool done) const;
  bool follow(const Verdict& verdict);
  void obey(const Verdict& verdict);
  void go_up_to(const Verdict& verdict);
  void pause(const Verdict& verdict);
  void resume(const Verdict& verdict);
  void change_speed(const Verdict& verdict);
  void begin_files(const Verdict& verdict);
  void reset_histograms(const Verdict& verdict);
  void begin_stop(const Verdict& verdict);
  void stop_sources(const Verdict& verdict);
  [[nodiscard]] SliceId live_end(const Verdict& verdict) const;

  RankWatch& watch_;
  int rank_;
  Heartbeat heartbeat_;
  RankSilence silence_;
  RunRequests requests_;
  RunCourse course_;
  SourceRole* sources_ = nullptr;
  double speed_ = 0;
  std::optional<LiveRun> live_;
  SliceId safe_end_{};               ///< known to this rank
  std::uint64_t reported_safe_ = 0;  ///< passed to its sources
  std::uint64_t progress_ = 0;
  std::function<void()> new_file_;
  std::function<void()> reset_;
  std::optional<Request> stop_;  ///< the request that the run follows to its end
  std::string error_;
};

}  // namespace eventloom
