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

/// Brings a run to its end on all ranks alike: when all is done, when a signal or a writer that cannot
/// write asks to stop in good order, when a source fails. Says by name which rank does not answer,
/// and ends the program when one is lost or silent for longer than the user allows.
///
/// In good order: all sources freeze; from how far each has got follows the slice before which all of
/// them end; what is in flight is then built and written as at any end. A run with live sources that is stopped by
/// SIGINT, SIGTERM or the end of its time is whole: its data end there.
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
  /// This rank cannot write what it builds: stop in good order.
  void stop_writing(const std::string& why);

  bool over(SteadyTime now, bool done, std::size_t work) override;
  void fail(const UserError& error) override { error_ = error.what(); }

  /// After the loop, the same on all ranks: "SIGUSR1", say; empty when nobody asked to stop.
  [[nodiscard]] const std::string& stopped_by() const { return stopped_by_; }
  /// After the loop: the data end where the run was stopped.
  [[nodiscard]] bool ended() const { return ends_; }
  /// After the loop: the error of a role of this rank; empty without one.
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  [[nodiscard]] RankStatus status(bool done) const;
  void leave_out_absence(SteadyTime now);
  void end_after_loss(SteadyTime now);
  void follow(const Verdict& verdict);
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
  bool ends_ = false;  ///< freezing, and the data end here
  std::uint64_t progress_ = 0;
  int stop_asked_ = 0;  ///< by this rank
  bool freezing_ = false;
  bool stopping_ = false;
  bool over_ = false;
  std::string stopped_by_;
  std::string error_;
  SteadyTime last_turn_{};
  SteadyTime loss_seen_{};
  SteadyTime next_silence_look_{};
  std::chrono::nanoseconds told_silence_{};  ///< length of the silence when it was last told
  bool told_termination_ = false;
  SteadyTime ending_{};  ///< since when the run is to end because a rank is silent
  std::uint64_t seen_progress_ = 0;
  SteadyTime moved_{};
  std::chrono::nanoseconds told_standstill_{};
};

}  // namespace eventloom
