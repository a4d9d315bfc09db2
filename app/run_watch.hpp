#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "app/roles.hpp"
#include "core/control/collective.hpp"
#include "core/runtime/watchdog.hpp"

namespace eventloom {

/// What is told to people when a run does not get on.
inline constexpr const char* kHowToGoOn = "what is finished is safe; the same command with --resume goes on from there";

struct StallSettings {
  std::chrono::nanoseconds warning{};  ///< 0: never
  std::chrono::nanoseconds timeout{};  ///< 0: waits for ever
};

/// Looks after the processes of a run, from its beginning to its end: says by name which rank of this
/// host is stopped or was lost, and what this rank has been doing for too long. No rank hangs without
/// a word, whatever its main thread is stuck in.
class RunWatch {
 public:
  /// Collective.
  RunWatch(StallSettings stalls, const Collective& ranks);

  /// From here on ranks are named with what they play.
  void set_roles(const Roles& roles);
  /// "rank 2 (source 2; builder 0) on n1". Any thread.
  [[nodiscard]] std::string name(int rank) const;
  [[nodiscard]] const StallSettings& stalls() const { return stalls_; }

  /// The event loop: every turn is noted, and a turn that takes longer than the timeout ends the program. Outside of
  /// it one step may take long: only a process that does not run is held against the timeout.
  void enter_loop() { in_loop_ = true; }
  void leave_loop() { in_loop_ = false; }
  void turn() { watchdog_.turn(); }

  [[nodiscard]] bool is_here(int rank) const;
  /// Of this host, and stopped, waiting for its disk, or dead: this is told here.
  [[nodiscard]] bool is_told_of(int rank) const;
  /// A rank of this host has died.
  [[nodiscard]] bool peer_lost() const { return peer_lost_; }
  /// This rank is about to end the run: what it sees of others from now on follows from that.
  void be_quiet() { quiet_ = true; }

 private:
  [[nodiscard]] std::vector<Watchdog::Peer> find_peers(const Collective& ranks) const;
  [[nodiscard]] Watchdog::Settings watchdog_settings();
  [[nodiscard]] std::string stall(const CurrentActivity& activity, double seconds) const;
  [[nodiscard]] bool speaks_for_host(int rank) const;
  void tell_stuck(double seconds, const CurrentActivity& activity);
  void tell_stopped(int rank, ProcessState state, double seconds);
  void tell_lost(int rank);
  void end_after(double seconds, const std::string& what);

  int rank_;
  std::vector<std::string> hosts_;  ///< by rank
  StallSettings stalls_;
  mutable std::mutex roles_mutex_;
  std::optional<Roles> roles_;
  std::vector<Watchdog::Peer> peers_;  ///< on this host
  std::atomic<bool> in_loop_{false};
  std::atomic<bool> peer_lost_{false};
  std::atomic<bool> quiet_{false};
  Watchdog watchdog_;  ///< last: its thread uses the rest
};

}  // namespace eventloom
