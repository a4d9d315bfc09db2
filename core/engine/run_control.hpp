#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "core/control/heartbeat.hpp"
#include "core/engine/event_loop.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/engine/source_role.hpp"
#include "core/transport/network.hpp"

namespace eventloom {

/// Steers a run on all ranks alike: pauses and resumes it, and brings it to its end when all is done, when a command, a
/// signal or a writer that cannot write asks to stop in good order, when a source fails. Says by name which rank does
/// not answer, and ends the program when one is lost or silent for longer than the user allows.
///
/// A command (see Command) takes effect in one round of the heartbeat on all ranks. To pause, all sources freeze; from
/// how far each has got follows the slice up to which all go on, so that what is begun is built. To stop in good order,
/// they end there. A run with live sources that is stopped by SIGINT, SIGTERM or the end of its time is whole: its data
/// end there. While a run is paused its live sources are received, as far as they find room; the time of its duration
/// goes on, that of a replay at a speed does not. One that has nothing left to begin ends though it is paused.
class RunControl final : public Ending {
 public:
  /// Collective, as is destruction. `watch` must outlive it. `duration`: of the run; 0: until its sources end.
  RunControl(RankWatch& watch, std::chrono::nanoseconds duration, Network& network);

  /// The run has live sources, or `all` are.
  void set_live(bool all, SliceId first_slice, const SliceGeometry& geometry) {
    all_live_ = all;
    first_slice_ = first_slice;
    live_geometry_ = geometry;
  }
  /// The sources of this rank; none without a call. They must outlive the loop.
  void set_sources(SourceRole* sources) { sources_ = sources; }
  /// Asks all ranks for `command`. By the thread of the rank, at any time; heard in the next round. What this rank asks
  /// before that is one request: of pause and resume the later, of stop and end the greater, which outweighs those.
  void ask(Command command, Cause cause = Cause::command) { ask({command, cause}); }
  /// This rank cannot write what it builds: stop in good order.
  void stop_writing(const std::string& why);

  bool over(SteadyTime now, bool done, std::size_t work) override;
  void fail(const UserError& error) override { error_ = error.what(); }

  /// After the loop, the same on all ranks: "SIGUSR1", say; empty when nobody asked to stop.
  [[nodiscard]] const std::string& stopped_by() const { return stopped_by_; }
  /// After the loop: the data end where the run was stopped.
  [[nodiscard]] bool ended() const { return ends_; }
  /// As far as this rank has heard.
  [[nodiscard]] bool paused() const { return paused_; }
  /// As far as this rank has heard: it is coming to its end, as asked.
  [[nodiscard]] bool stopping() const { return stopping_; }
  /// Rounds of the heartbeat that this rank has taken part in.
  [[nodiscard]] std::uint64_t rounds() const { return heartbeat_.reports_made(); }
  /// After the loop: the error of a role of this rank; empty without one.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] RankStatus status(bool done) const;
  void leave_out_absence(SteadyTime now);
  void end_after_loss(SteadyTime now);
  void end_as_told(SteadyTime now);
  void ask(Request request);
  void ask_for_signal();
  void follow(const Verdict& verdict);
  void obey(const Verdict& verdict);
  void go_up_to(const Verdict& verdict);
  void pause(const Verdict& verdict);
  void resume(const Verdict& verdict);
  void begin_stop(const Verdict& verdict);
  void stop_sources(const Verdict& verdict);
  [[nodiscard]] SliceId live_end(const Verdict& verdict) const;
  void look_for_silence(SteadyTime now);
  void look_for_progress(SteadyTime now, const Verdict& verdict);
  void tell_of_silence(const Heartbeat::Silence& silence);
  void tell_on_termination(const Heartbeat::Silence& silence);
  void end_after_silence(SteadyTime now, const Heartbeat::Silence& silence);
  /// Of two ranks one speaks about the other, so that each line comes once.
  [[nodiscard]] bool speaks_about(int rank) const { return rank_ == (rank == 0 ? 1 : 0); }

  RankWatch& watch_;
  int rank_;
  Heartbeat heartbeat_;
  SourceRole* sources_ = nullptr;
  std::chrono::nanoseconds duration_;
  SteadyTime begun_{};
  bool all_live_ = false;
  SliceId first_slice_{};
  std::optional<SliceGeometry> live_geometry_;
  bool ends_ = false;  ///< stopping, and the data end here
  std::uint64_t progress_ = 0;
  Request asked_;  ///< by this rank, and not yet reported
  bool signalled_ = false;
  bool time_over_ = false;
  bool frozen_ = false;    ///< for a pause or for a stop; how far the sources go follows from the next round
  bool paused_ = false;    ///< frozen, or goes only so far
  bool stopping_ = false;  ///< frozen, or goes to where it stops
  bool over_ = false;
  std::string stopped_by_;
  std::string error_;
  SteadyTime last_turn_{};
  SteadyTime loss_seen_{};
  SteadyTime told_to_end_{};
  SteadyTime next_silence_look_{};
  std::chrono::nanoseconds told_silence_{};  ///< length of the silence when it was last told
  bool told_termination_ = false;
  SteadyTime ending_{};  ///< since when the run is to end because a rank is silent
  std::uint64_t seen_progress_ = 0;
  SteadyTime moved_{};
  std::chrono::nanoseconds told_standstill_{};
};

}  // namespace eventloom
