#include "core/runtime/watchdog.hpp"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "core/runtime/clock.hpp"
#include "core/runtime/signals_blocked.hpp"

namespace eventloom {

namespace {

// A rank on a full node checks a hundred others, and each check costs the kernel some microseconds.
constexpr std::size_t kPeersPerLook = 16;
// A check this many intervals after the last one shows that the whole process did not run.
constexpr int kLateLook = 10;

Watchdog::Settings checked(Watchdog::Settings settings) {
  settings.interval = std::max(settings.interval, std::chrono::milliseconds(1));
  return settings;
}

}  // namespace

Watchdog::Watchdog(Settings settings) : settings_(checked(std::move(settings))) {
  for (const Peer& peer : settings_.peers) peers_.push_back({peer, ProcessState::running, {}});
  const SignalsBlocked blocked;
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    end_.notify_one();
  }
  thread_.join();
}

void Watchdog::watch() {
  pthread_setname_np(pthread_self(), "watchdog");
  auto last_look = std::chrono::steady_clock::now();
  Time watched{0};
  std::unique_lock lock(mutex_);
  while (!ending_) {
    lock.unlock();
    look_at_main(watched);
    look_at_peers(watched);
    lock.lock();
    end_.wait_for(lock, settings_.interval, [this] { return ending_; });
    const auto now = std::chrono::steady_clock::now();
    const Time gap = now - last_look;
    last_look = now;
    const bool late = gap >= kLateLook * settings_.interval;
    watched += late ? Time(settings_.interval) : gap;
    looks_since_away_ = late ? 0 : std::min(looks_since_away_ + 1, kAMoment);
  }
}

void Watchdog::look_at_main(Time now) {
  const std::uint64_t turns = turns_.load(std::memory_order_relaxed);
  if (turns != turns_seen_) {
    turns_seen_ = turns;
    stall_ = {now, Time{0}};
  }
  if (worth_reporting(stall_, now) && settings_.stuck) settings_.stuck(in_seconds(stall_.reported), current_activity());
}

void Watchdog::look_at_peers(Time now) {
  const std::size_t count = std::min(peers_.size(), kPeersPerLook);
  for (std::size_t looked = 0; looked < count; ++looked) {
    if (next_peer_ >= peers_.size()) next_peer_ = 0;
    WatchedPeer& watched = peers_[next_peer_];
    look_at(watched, now);
    if (watched.state == ProcessState::dead) {
      peers_.erase(peers_.begin() + static_cast<std::ptrdiff_t>(next_peer_));
    } else {
      ++next_peer_;
    }
  }
}

void Watchdog::look_at(WatchedPeer& watched, Time now) {
  const ProcessState state = process_state(watched.peer.process);
  if (state != watched.state) {
    watched.state = state;
    watched.hold = {now, Time{0}};
  }
  if (state == ProcessState::dead) {
    if (settings_.lost) settings_.lost(watched.peer.rank);
  } else if (state != ProcessState::running && worth_reporting(watched.hold, now) && settings_.stopped) {
    settings_.stopped(watched.peer.rank, state, in_seconds(watched.hold.reported));
  }
}

bool Watchdog::worth_reporting(Hold& hold, Time now) const {
  const Time length = now - hold.since;
  if (settings_.stall_warning <= Time{0} || length < std::max(settings_.stall_warning, 2 * hold.reported)) return false;
  hold.reported = length;
  return true;
}

}  // namespace eventloom
