#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <memory>

#include "core/control/heartbeat.hpp"

namespace eventloom {
namespace {

using Seconds = std::chrono::seconds;

/// The channel of rank 1; the test supplies the messages of rank 0.
class FakeChannel final : public MessageChannel {
 public:
  explicit FakeChannel(std::deque<HeartbeatNote>& notes) : notes_(notes) {}
  void send(int /*to*/, std::span<const std::byte> /*data*/) override {}
  std::optional<int> receive(std::vector<std::byte>& out) override {
    if (notes_.empty()) return std::nullopt;
    out.resize(sizeof(HeartbeatNote));
    std::memcpy(out.data(), &notes_.front(), sizeof(HeartbeatNote));
    notes_.pop_front();
    return 0;
  }
  void progress() override {}

 private:
  std::deque<HeartbeatNote>& notes_;
};

/// Rank 1 of 3, which has reported and waits for the verdict.
class HeartbeatSilence : public ::testing::Test {
 protected:
  HeartbeatSilence() { heartbeat_.do_work(now_, {}); }

  void wait(Seconds time) {
    now_ += time;
    heartbeat_.do_work(now_, {});
  }
  void reported_that_rank_0_waits_for(int rank) {
    notes_.push_back({.kind = HeartbeatNote::kWaiting, .waited_for = rank});
    heartbeat_.do_work(now_ += Seconds(1), {});
  }
  [[nodiscard]] std::vector<int> silent() const { return heartbeat_.silence(now_).ranks; }

  std::deque<HeartbeatNote> notes_;
  Heartbeat heartbeat_{std::make_unique<FakeChannel>(notes_), 1, 3, Seconds(10), Seconds(60)};
  Heartbeat::Time now_{Seconds(1000)};
};

TEST_F(HeartbeatSilence, Rank0IsNamedWhenItSaysNothing) {
  wait(Seconds(9));
  EXPECT_TRUE(silent().empty());
  wait(Seconds(1));
  EXPECT_EQ(silent(), std::vector{0});
}

TEST_F(HeartbeatSilence, WhomRank0WaitsForIsNamedWhileRank0SaysSo) {
  wait(Seconds(9));
  reported_that_rank_0_waits_for(2);
  EXPECT_EQ(silent(), std::vector{2});
  wait(Seconds(119));
  EXPECT_EQ(silent(), std::vector{2});
  wait(Seconds(1));
  EXPECT_EQ(silent(), std::vector{0}) << "it repeats itself every 60 s at least";
}

TEST_F(HeartbeatSilence, TheTimeThatThisRankWasAwayDoesNotCount) {
  now_ += Seconds(3600);
  heartbeat_.leave_out(Seconds(3600));
  EXPECT_TRUE(silent().empty());
  wait(Seconds(10));
  EXPECT_EQ(silent(), std::vector{0});
}

}  // namespace
}  // namespace eventloom
