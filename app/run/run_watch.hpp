#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/control/collective.hpp"
#include "core/engine/rank_watch.hpp"
#include "core/engine/role_layout.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/stop_signal.hpp"
#include "core/runtime/watchdog.hpp"

namespace eventloom {

/// Returns "source 2; builder 0", or "no role".
std::string plays(const Roles& roles, int rank);

/// Watches the processes of a run from beginning to end: names ranks on this host that are stopped or lost, and the
/// activity in which this rank is stuck. No rank hangs silently, whatever blocks its main thread.
class RunWatch final : public RankWatch {
 public:
  /// Collective.
  RunWatch(StallSettings stalls, const Collective& ranks);

  /// Messages name ranks with these roles from now on.
  void set_roles(const Roles& roles);
  [[nodiscard]] std::string name(int rank) const override;
  [[nodiscard]] const StallSettings& stalls() const override { return stalls_; }
  /// A call that needs `rank`, or some other rank if it is kAnyRank, has failed, `why`. Returns whether a rank is lost:
  /// reports one on another host, and waits a moment for the watchdog to report one on this host.
  bool report_unreachable(int rank, const std::string& why);
  void enter_loop() override { in_loop_ = true; }
  void leave_loop() override { in_loop_ = false; }
  void turn() override { watchdog_.turn(); }
  [[nodiscard]] bool is_here(int rank) const override;
  [[nodiscard]] bool has_reported(int rank) const override;
  [[nodiscard]] std::optional<int> lost_peer() const override;
  void be_quiet() override { quiet_ = true; }
  [[nodiscard]] int asked_to_stop() const override { return stop_signal(); }
  [[noreturn]] void end_program() override { MpiEnvironment::abort(kExitStopped); }

 private:
  [[nodiscard]] std::vector<Watchdog::Peer> find_peers(const Collective& ranks) const;
  [[nodiscard]] Watchdog::Settings watchdog_settings();
  [[nodiscard]] std::string stall(const CurrentActivity& activity, double seconds) const;
  [[nodiscard]] bool speaks_for_host(int rank) const;
  [[nodiscard]] bool has_lost_peer() const { return lost_peer_ >= 0; }
  void report_stuck(double seconds, const CurrentActivity& activity);
  void report_stopped(int rank, ProcessState state, double seconds);
  void report_lost(int rank);
  void end_after(double seconds, const std::string& what);

  int rank_;
  std::vector<std::string> hosts_;  ///< indexed by rank
  StallSettings stalls_;
  mutable std::mutex roles_mutex_;
  std::optional<Roles> roles_;
  std::vector<Watchdog::Peer> peers_;  ///< on this host
  std::atomic<bool> in_loop_{false};
  std::atomic<int> lost_peer_{-1};
  std::atomic<bool> quiet_{false};
  Watchdog watchdog_;  ///< last member: its thread uses the others
};

}  // namespace eventloom
