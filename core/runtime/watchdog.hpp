#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/runtime/activity.hpp"
#include "core/runtime/process_state.hpp"

namespace eventloom {

/// Checks, on its own thread, whether the main thread still takes turns and whether the other processes of the run on
/// this host are alive. Never calls MPI, and takes no signals: their handlers run on the main thread.
///
/// Durations exclude times in which this process as a whole did not run (stopped and continued), so that it does not
/// blame its main thread or its peers for them; they are accurate to about the interval between two checks. Each check
/// examines at most 16 peers, in turn, so that many ranks on a host do not disturb each other.
///
/// A peer that has ended cleanly is dead as well: destroy the watchdog before the last collective call of all
/// ranks (barrier or MPI_Finalize), after which they may end.
class Watchdog {
 public:
  struct Peer {
    int rank = 0;
    ProcessId process;
  };

  /// The functions are called on the watchdog's thread while the main thread runs or is stuck, one at a time. They must
  /// not throw, call MPI or destroy the watchdog; no further check is made until they return. Each may be empty.
  struct Settings {
    std::chrono::nanoseconds stall_warning{0};  ///< 0: no reports of stalls and stopped peers
    std::vector<Peer> peers;                    ///< on this host and in this PID namespace, without this rank
    std::chrono::milliseconds interval{100};    ///< between two checks, at least 1 ms
    /// The main thread has not taken a turn for `seconds`, and its activity (current_activity()): called once per
    /// stall, and again each time the stall's length has doubled.
    std::function<void(double seconds, const CurrentActivity& activity)> stuck;
    /// A peer is dead; called once per peer.
    std::function<void(int rank)> lost;
    /// A peer was stopped, or waiting for its disk, at every check for longer than stall_warning; called again each
    /// time that length has doubled.
    std::function<void(int rank, ProcessState state, double seconds)> stopped;
  };

  /// Starts the thread. Throws std::system_error if that fails.
  explicit Watchdog(Settings settings);
  /// Joins; returns immediately unless one of the functions is running.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Whether this process as a whole did not run until a moment ago, which may explain the state of its peers.
  /// Thread-safe.
  [[nodiscard]] bool was_away() const { return looks_since_away_ < kAMoment; }

  /// The main thread takes a turn. One relaxed store, no clock call; for one thread only.
  void turn() { turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

 private:
  using Time = std::chrono::nanoseconds;

  /// How long a condition has lasted, and when to report it.
  struct Hold {
    Time since{0};
    Time reported{0};  // length at the last report
  };
  struct WatchedPeer {
    Peer peer;
    ProcessState state = ProcessState::running;
    Hold hold;
  };

  void watch();
  void look_at_main(Time now);
  void look_at_peers(Time now);
  void look_at(WatchedPeer& watched, Time now);
  bool worth_reporting(Hold& hold, Time now) const;

  static constexpr int kAMoment = 20;  // checks

  std::atomic<std::uint64_t> turns_{0};
  std::atomic<int> looks_since_away_{kAMoment};
  const Settings settings_;

  // Used by the watchdog's thread only.
  std::uint64_t turns_seen_ = 0;
  Hold stall_;
  std::vector<WatchedPeer> peers_;  // peers not known to be dead
  std::size_t next_peer_ = 0;

  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;  // under mutex_
  std::thread thread_;   // last: starts when all other members exist
};

}  // namespace eventloom
