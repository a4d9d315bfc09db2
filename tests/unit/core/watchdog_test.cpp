#include "core/runtime/watchdog.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <thread>

#include "child_process.hpp"

namespace eventloom {
namespace {

using std::chrono::milliseconds;

/// The messages of a watchdog, in order; may be read while it runs.
class Said {
 public:
  struct Stuck {
    double seconds;
    std::string activity;
  };
  struct Stopped {
    int rank;
    ProcessState state;
    double seconds;
  };

  Watchdog::Settings settings(milliseconds warning, std::vector<Watchdog::Peer> peers = {}) {
    Watchdog::Settings settings;
    settings.stall_warning = warning;
    settings.peers = std::move(peers);
    settings.interval = milliseconds(2);
    settings.stuck = [this](double seconds, const CurrentActivity& activity) {
      keep(stuck_, {seconds, activity.text()});
    };
    settings.lost = [this](int rank) { keep(lost_, rank); };
    settings.stopped = [this](int rank, ProcessState state, double seconds) { keep(stopped_, {rank, state, seconds}); };
    return settings;
  }

  std::vector<Stuck> stuck() const { return copy(stuck_); }
  std::vector<int> lost() const { return copy(lost_); }
  std::vector<Stopped> stopped() const { return copy(stopped_); }

 private:
  template <class T>
  void keep(std::vector<T>& list, T one) {
    const std::lock_guard lock(mutex_);
    list.push_back(std::move(one));
  }
  template <class T>
  std::vector<T> copy(const std::vector<T>& list) const {
    const std::lock_guard lock(mutex_);
    return list;
  }

  mutable std::mutex mutex_;
  std::vector<Stuck> stuck_;
  std::vector<int> lost_;
  std::vector<Stopped> stopped_;
};

Watchdog::Peer peer(int rank, const ChildProcess& child) { return {rank, {child.pid(), 0}}; }

/// A peer whose process is dead.
Watchdog::Peer dead_peer(int rank) {
  ChildProcess child;
  child.send(SIGKILL);
  child.exit_status();
  return peer(rank, child);
}

/// A peer whose death shows a test that the watchdog has looked.
class LookedAt {
 public:
  explicit LookedAt(int rank) : rank_(rank) {}
  Watchdog::Peer as_peer() const { return peer(rank_, child_); }
  bool seen_dead_in(const Said& said) const {
    child_.send(SIGKILL);
    return eventually([&] {
      const auto lost = said.lost();
      return std::find(lost.begin(), lost.end(), rank_) != lost.end();
    });
  }

 private:
  int rank_;
  ChildProcess child_;
};

TEST(ActivityTest, NamesTheInnermostAndRestoresTheOuter) {
  EXPECT_EQ(current_activity().text(), "");
  {
    const Activity outer("writing");
    EXPECT_EQ(current_activity().text(), "writing");
    {
      const Activity inner("waiting for rank", 3);
      EXPECT_EQ(current_activity().text(), "waiting for rank 3");
      const Activity rank_zero("waiting for rank", 0);
      EXPECT_EQ(current_activity().text(), "waiting for rank 0");
    }
    EXPECT_EQ(current_activity().text(), "writing");
  }
  EXPECT_EQ(current_activity().text(), "");
}

// Evidence mainly under the thread sanitizer: torn reads are too rare to be provoked reliably.
TEST(ActivityTest, AnotherThreadMayAskWhileItChanges) {
  std::atomic<bool> ending{false};
  std::atomic<int> times_read{0};
  std::atomic<int> mixtures{0};
  std::thread reader([&] {
    for (; !ending; ++times_read) {
      const std::string seen = current_activity().text();
      if (!seen.empty() && seen != "flushing to rank 1" && seen != "writing") ++mixtures;
    }
  });
  while (times_read < 200'000) {
    // Changes are slower than a look; otherwise looks would hardly ever find a moment without one.
    const Activity outer("flushing to rank", 1);
    for (int i = 0; i < 50; ++i) static_cast<void>(times_read.load());
    const Activity inner("writing");
    for (int i = 0; i < 50; ++i) static_cast<void>(times_read.load());
  }
  ending = true;
  reader.join();
  EXPECT_EQ(mixtures, 0);
}

TEST(WatchdogTest, SaysWhatAStuckMainThreadIsDoing) {
  Said said;
  const Activity activity("waiting for rank", 3);
  const Watchdog watchdog(said.settings(milliseconds(20)));
  ASSERT_TRUE(eventually([&] { return !said.stuck().empty(); }));
  EXPECT_EQ(said.stuck()[0].activity, "waiting for rank 3");
  EXPECT_GE(said.stuck()[0].seconds, 0.020);
}

TEST(WatchdogTest, SpeaksAgainOnlyWhenAStallHasDoubled) {
  Said said;
  const Watchdog watchdog(said.settings(milliseconds(5)));
  ASSERT_TRUE(eventually([&] { return said.stuck().size() >= 5; }));
  const auto stuck = said.stuck();
  for (std::size_t i = 1; i < stuck.size(); ++i) EXPECT_GE(stuck[i].seconds, 2 * stuck[i - 1].seconds);
}

TEST(WatchdogTest, ATurnEndsAStallAndTheNextIsReportedAgain) {
  Said said;
  Watchdog watchdog(said.settings(milliseconds(5)));
  ASSERT_TRUE(eventually([&] { return said.stuck().size() >= 4; }));
  watchdog.turn();
  // The next length starts again at the first one's, rather than doubling the last one.
  ASSERT_TRUE(eventually([&] {
    const auto stuck = said.stuck();
    return std::adjacent_find(stuck.begin(), stuck.end(), [](const auto& one, const auto& next) {
             return next.seconds < one.seconds;
           }) != stuck.end();
  }));
}

TEST(WatchdogTest, IsSilentWhileTurnsAreTaken) {
  Said said;
  const LookedAt last(9);
  Watchdog watchdog(said.settings(milliseconds(1000), {last.as_peer()}));
  // Longer in total than the warning time, with each turn much shorter.
  const auto end = std::chrono::steady_clock::now() + milliseconds(1500);
  while (std::chrono::steady_clock::now() < end) watchdog.turn();
  ASSERT_TRUE(last.seen_dead_in(said));
  EXPECT_TRUE(said.stuck().empty());
}

TEST(WatchdogTest, WithoutAWarningTimeItReportsTheDeadOnly) {
  Said said;
  const ChildProcess child;
  child.send(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return process_state({child.pid(), 0}) == ProcessState::stopped; }));
  const LookedAt last(9);
  const Watchdog watchdog(said.settings(milliseconds(0), {peer(1, child), last.as_peer()}));
  ASSERT_TRUE(last.seen_dead_in(said));
  EXPECT_TRUE(said.stuck().empty());
  EXPECT_TRUE(said.stopped().empty());
}

TEST(WatchdogTest, NamesALostPeerOnceThoughItIsAZombie) {
  Said said;
  const ChildProcess killed;
  const ChildProcess alive;
  const LookedAt last(9);
  const Watchdog watchdog(said.settings(milliseconds(0), {peer(3, alive), peer(7, killed), last.as_peer()}));
  killed.send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return !said.lost().empty(); }));
  ASSERT_TRUE(last.seen_dead_in(said));
  EXPECT_EQ(said.lost(), (std::vector<int>{7, 9}));
}

TEST(WatchdogTest, NamesAPeerThatWasDeadBefore) {
  Said said;
  const Watchdog watchdog(said.settings(milliseconds(0), {dead_peer(2)}));
  ASSERT_TRUE(eventually([&] { return !said.lost().empty(); }));
  EXPECT_EQ(said.lost(), std::vector<int>{2});
}

TEST(WatchdogTest, FindsEveryDeadPeerAmongMany) {
  Said said;
  std::vector<std::unique_ptr<ChildProcess>> children;
  std::vector<Watchdog::Peer> peers;
  for (int rank = 0; rank < 40; ++rank) {
    children.push_back(std::make_unique<ChildProcess>());
    peers.push_back(peer(rank, *children.back()));
  }
  const Watchdog watchdog(said.settings(milliseconds(0), peers));
  for (const auto& child : children) child->send(SIGKILL);
  ASSERT_TRUE(eventually([&] { return said.lost().size() >= children.size(); }));
  const auto lost = said.lost();
  EXPECT_EQ(lost.size(), children.size());
  EXPECT_EQ(std::set<int>(lost.begin(), lost.end()).size(), children.size());
}

TEST(WatchdogTest, NamesAStoppedPeerAndAgainWhenThatTimeHasDoubled) {
  Said said;
  const ChildProcess child;
  const Watchdog watchdog(said.settings(milliseconds(20), {peer(4, child)}));
  child.send(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return said.stopped().size() >= 3; }));
  const auto stopped = said.stopped();
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(stopped[i].rank, 4);
    EXPECT_EQ(stopped[i].state, ProcessState::stopped);
    EXPECT_GE(stopped[i].seconds, i == 0 ? 0.020 : 2 * stopped[i - 1].seconds);
  }
  EXPECT_TRUE(said.lost().empty());
}

TEST(WatchdogTest, APeerThatRanInBetweenIsStoppedAgain) {
  Said said;
  // Peers are looked at in order: when the first is found dead, the child is looked at next, then the last.
  const LookedAt first(1);
  const ChildProcess child;
  const LookedAt last(3);
  const Watchdog watchdog(said.settings(milliseconds(20), {first.as_peer(), peer(2, child), last.as_peer()}));
  child.send(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return said.stopped().size() >= 3; }));
  child.send(SIGCONT);
  ASSERT_TRUE(eventually([&] { return process_state({child.pid(), 0}) == ProcessState::running; }));
  ASSERT_TRUE(first.seen_dead_in(said));
  ASSERT_TRUE(last.seen_dead_in(said));
  const auto before = said.stopped();
  child.send(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return said.stopped().size() > before.size(); }));
  EXPECT_LT(said.stopped()[before.size()].seconds, before.back().seconds);
}

TEST(WatchdogTest, NamesAPeerThatWaitsForItsDisk) {
  Said said;
  const ChildProcess child(sleep_uninterruptibly);
  const Watchdog watchdog(said.settings(milliseconds(20), {peer(5, child)}));
  ASSERT_TRUE(eventually([&] { return !said.stopped().empty(); }));
  EXPECT_EQ(said.stopped()[0].rank, 5);
  EXPECT_EQ(said.stopped()[0].state, ProcessState::waiting_for_disk);
}

TEST(WatchdogTest, ItsThreadTakesNoSignalAndTheMainThreadKeepsItsMask) {
  sigset_t mask;
  sigset_t before;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR2);
  pthread_sigmask(SIG_SETMASK, &mask, &before);
  std::atomic<int> blocked{-1};
  Watchdog::Settings settings;
  settings.stall_warning = settings.interval = milliseconds(1);
  settings.stuck = [&](double, const CurrentActivity&) {
    sigset_t own;
    pthread_sigmask(SIG_SETMASK, nullptr, &own);
    blocked = sigismember(&own, SIGTERM) + sigismember(&own, SIGINT) + sigismember(&own, SIGUSR1);
  };
  const Watchdog watchdog(settings);
  ASSERT_TRUE(eventually([&] { return blocked >= 0; }));
  EXPECT_EQ(blocked, 3);
  pthread_sigmask(SIG_SETMASK, &before, &mask);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) EXPECT_EQ(sigismember(&mask, signal), 0) << signal;
  EXPECT_EQ(sigismember(&mask, SIGUSR2), 1);
}

TEST(WatchdogTest, EndsWithoutWaitingForTheNextLook) {
  Said said;
  Watchdog::Settings settings = said.settings(milliseconds(0), {dead_peer(1)});
  settings.interval = std::chrono::hours(1);
  const ChildProcess child([&] {
    const Watchdog watchdog(settings);
    eventually([&] { return !said.lost().empty(); });
  });
  EXPECT_TRUE(eventually([&] { return process_state({child.pid(), 0}) == ProcessState::dead; }));
}

TEST(WatchdogTest, NeedsNoFunctionForWhatIsNotAskedFor) {
  const ChildProcess child;
  child.send(SIGSTOP);
  std::atomic<int> words{0};
  Watchdog::Settings settings;
  settings.stall_warning = settings.interval = milliseconds(1);
  settings.peers = {peer(1, child), dead_peer(2)};
  Watchdog::Settings only_stuck = settings;
  only_stuck.stuck = [&](double, const CurrentActivity&) { ++words; };
  Watchdog::Settings only_stopped = settings;
  only_stopped.stopped = [&](int, ProcessState, double) { ++words; };
  for (const Watchdog::Settings& one : {only_stuck, only_stopped}) {
    words = 0;
    const Watchdog watchdog(one);
    EXPECT_TRUE(eventually([&] { return words >= 3; }));
  }
}

/// The main thread of a watched process that never takes a turn: at each message of the watchdog, writes to a pipe how
/// much longer it has lived than the watchdog states.
void live_without_turns(int pipe_end) {
  const auto start = std::chrono::steady_clock::now();
  Watchdog::Settings settings;
  settings.stall_warning = milliseconds(100);
  settings.interval = milliseconds(5);
  settings.stuck = [=](double seconds, const CurrentActivity&) {
    const std::chrono::duration<double> lived = std::chrono::steady_clock::now() - start;
    const double left_out = lived.count() - seconds;
    if (write(pipe_end, &left_out, sizeof left_out) != sizeof left_out) _exit(1);
  };
  const Watchdog watchdog(settings);
  ChildProcess::wait_forever();
}

TEST(WatchdogTest, LeavesOutTheTimeInWhichTheWholeProcessWasStopped) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const ChildProcess child([&] { live_without_turns(ends[1]); });
  double left_out = 0;
  ASSERT_EQ(read(ends[0], &left_out, sizeof left_out), static_cast<ssize_t>(sizeof left_out));
  child.send(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return process_state({child.pid(), 0}) == ProcessState::stopped; }));
  const auto stop = std::chrono::steady_clock::now();
  const auto stopped_for = milliseconds(500);
  ASSERT_TRUE(eventually([&] { return std::chrono::steady_clock::now() - stop > stopped_for; }));
  child.send(SIGCONT);
  ASSERT_EQ(read(ends[0], &left_out, sizeof left_out), static_cast<ssize_t>(sizeof left_out));
  EXPECT_GT(left_out, 0.49);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace eventloom
