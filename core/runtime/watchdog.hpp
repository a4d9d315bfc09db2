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

/// Looks, on a thread of its own, whether the main thread still takes its turns and whether the other processes of
/// the run on this host live. Never calls MPI, and takes no signals: their handlers run on the main thread.
///
/// Lengths of time leave out those in which this process as a whole did not run (stopped and continued), so that it
/// does not blame its main thread or its peers for them; and they are exact to about the interval between two looks.
/// At a look it asks for at most 16 peers, in turn, so that many ranks on a host do not keep each other busy.
///
/// A peer that has ended in good order is dead as well: destroy the watchdog before the last meeting of all ranks
/// (barrier or MPI_Finalize), behind which they may end.
class Watchdog {
 public:
  struct Peer {
    int rank = 0;
    ProcessId process;
  };

  /// The functions are called on the watchdog's thread while the main thread runs on or is stuck, one at a time. They
  /// must not throw, not call MPI and not destroy the watchdog; no further look is taken until they return. Each may
  /// be empty.
  struct Settings {
    std::chrono::nanoseconds stall_warning{0};  ///< 0: says nothing about stalls and stopped peers
    std::vector<Peer> peers;                    ///< on this host and in this PID namespace, without this rank
    std::chrono::milliseconds interval{100};    ///< between two looks, at least 1 ms
    /// The main thread has not taken a turn for `seconds`, and what it is doing (current_activity()): once per stall,
    /// and again each time the stall's length has doubled.
    std::function<void(double seconds, const CurrentActivity& activity)> stuck;
    /// A peer is dead; once per peer.
    std::function<void(int rank)> lost;
    /// A peer was found stopped, or waiting for its disk, at every look for longer than stall_warning; again each
    /// time that length has doubled.
    std::function<void(int rank, ProcessState state, double seconds)> stopped;
  };

  /// Starts the thread. Throws std::system_error where there can be none.
  explicit Watchdog(Settings settings);
  /// Joins; returns at once unless one of the functions is running.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// This process as a whole did not run for a while until a moment ago: what has become of others meanwhile may
  /// have come of that. Any thread.
  [[nodiscard]] bool was_away() const { return looks_since_away_ < kAMoment; }

  /// The main thread takes a turn. One relaxed store, no clock call; for one thread alone.
  void turn() { turns_.store(turns_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }

 private:
  using Time = std::chrono::nanoseconds;

  /// How long something has been so, and when that is worth telling.
  struct Hold {
    Time since{0};
    Time told{0};  // length at the last telling
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
  bool worth_telling(Hold& hold, Time now) const;

  static constexpr int kAMoment = 20;  // looks

  std::atomic<std::uint64_t> turns_{0};
  std::atomic<int> looks_since_away_{kAMoment};
  const Settings settings_;

  // Of the watchdog's thread alone.
  std::uint64_t turns_seen_ = 0;
  Hold stall_;
  std::vector<WatchedPeer> peers_;  // those not known to be dead
  std::size_t next_peer_ = 0;

  std::mutex mutex_;
  std::condition_variable end_;
  bool ending_ = false;  // under mutex_
  std::thread thread_;   // last: starts when all else is there
};

}  // namespace eventloom
