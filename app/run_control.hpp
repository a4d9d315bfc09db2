#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/event_loop.hpp"
#include "app/roles.hpp"
#include "app/source_role.hpp"
#include "core/control/heartbeat.hpp"
#include "core/mpi/communicator.hpp"
#include "core/runtime/watchdog.hpp"

namespace eventloom {

struct RunControlSettings {
  Roles roles;
  std::vector<std::string> hosts;            ///< by rank
  std::chrono::nanoseconds stall_warning{};  ///< 0: never
  std::chrono::nanoseconds stall_timeout{};  ///< 0: waits for ever
};

/// "rank 2 (source 2, builder 0) on n1"
std::string rank_name(const Roles& roles, const std::vector<std::string>& hosts, int rank);

/// Brings a run to its end on all ranks alike: when all is done, when a signal or a writer that cannot
/// write asks to stop in good order, when a source fails. Says by name which rank is silent, stuck or
/// lost, and ends the program when one is lost or silent for longer than the user allows.
///
/// In good order: all sources freeze; from how far each has got follows the slice before which all of
/// them end; what is in flight is then built and written as at any end.
class RunControl final : public Ending {
 public:
  /// Collective, as is destruction. From here on the program ends when a rank of this host dies.
  RunControl(RunControlSettings settings, const Communicator& communicator);

  /// The sources of this rank; none without a call. They must outlive the loop.
  void set_sources(SourceRole* sources) { sources_ = sources; }
  /// This rank cannot write what it builds: stop in good order.
  void stop_writing(const std::string& why);

  bool over(SteadyTime now, bool done, std::size_t work) override;
  void fail(const UserError& error) override;

  /// After the loop, the same on all ranks: whether it was asked to stop, and "SIGUSR1", say.
  [[nodiscard]] const std::string& stopped_by() const { return stopped_by_; }
  /// After the loop: the error of a role of this rank; empty without one.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// What comes after the loop is rank 0's work: the others wait for it.
  void begin_closing();

 private:
  void watch_processes();
  [[nodiscard]] RankStatus status(bool done) const;
  void follow(const Verdict& verdict);
  void begin_stop(const Verdict& verdict);
  void look_for_silence(SteadyTime now);
  void look_for_progress(SteadyTime now, const Verdict& verdict);
  void tell_of_silence(const Heartbeat::Silence& silence);
  void tell_on_termination(const Heartbeat::Silence& silence);
  void end_after_loss(SteadyTime now);
  void tell_lost(int rank);
  void tell_stuck(double seconds, const std::string& activity) const;
  [[nodiscard]] std::string name(int rank) const { return rank_name(settings_.roles, settings_.hosts, rank); }
  [[nodiscard]] bool is_told_of(int rank) const;
  [[nodiscard]] bool is_here(int rank) const;
  void end_if_too_long(double seconds) const;
  [[nodiscard]] bool speaks_for_host(int rank) const;
  void tell_stopped(int rank, ProcessState state, double seconds) const;
  [[nodiscard]] bool speaks_about(int rank) const { return rank_ == (rank == 0 ? 1 : 0); }

  RunControlSettings settings_;
  const Communicator& communicator_;
  int rank_;
  Heartbeat heartbeat_;
  SourceRole* sources_ = nullptr;
  std::vector<Watchdog::Peer> peers_;  ///< on this host
  std::uint64_t progress_ = 0;
  int stop_asked_ = 0;  ///< by this rank
  bool freezing_ = false;
  bool stopping_ = false;
  bool over_ = false;
  std::string stopped_by_;
  std::string error_;
  SteadyTime next_silence_look_{};
  std::chrono::nanoseconds told_silence_{};  ///< length of the silence when it was last told
  bool told_termination_ = false;
  std::uint64_t seen_progress_ = 0;
  SteadyTime moved_{};
  std::chrono::nanoseconds told_standstill_{};
  std::atomic<bool> waits_for_first_rank_{false};
  std::atomic<bool> peer_lost_{false};
  SteadyTime loss_seen_{};
  std::unique_ptr<Watchdog> watchdog_;  ///< last: its thread uses the rest
};

}  // namespace eventloom
