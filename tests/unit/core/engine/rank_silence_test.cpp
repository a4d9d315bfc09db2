#include "core/engine/rank_silence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>

#include "core/runtime/setting.hpp"

namespace eventloom {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// Nothing arrives: the other rank is silent.
class SilentChannel final : public MessageChannel {
 public:
  void send(int /*to*/, std::span<const std::byte> /*data*/) override {}
  std::optional<int> receive(std::vector<std::byte>& /*out*/) override { return std::nullopt; }
  void progress() override {}
};

struct Ended : std::runtime_error {
  Ended() : runtime_error("the program ends") {}
};

class FakeWatch final : public RankWatch {
 public:
  [[nodiscard]] std::string name(int rank) const override { return "rank " + std::to_string(rank); }
  [[nodiscard]] const StallSettings& stalls() const override { return stalls_; }
  void enter_loop() override { ++entered_; }
  void leave_loop() override {}
  void turn() override { ++turns_; }
  [[nodiscard]] bool is_here(int /*rank*/) const override { return false; }
  [[nodiscard]] bool has_reported(int /*rank*/) const override { return reported_; }
  [[nodiscard]] std::optional<int> lost_peer() const override { return lost_; }
  void be_quiet() override { quiet_ = true; }
  [[nodiscard]] int asked_to_stop() const override { return signal_; }
  void end_program() override { throw Ended(); }

  StallSettings stalls_{seconds(10), seconds(60), "advice"};
  int entered_ = 0;
  int turns_ = 0;
  bool reported_ = false;
  bool quiet_ = false;
  std::optional<int> lost_;
  int signal_ = 0;
};

/// Rank 0 of 2, which takes a turn every 100 ms; rank 1 never answers.
class RankSilenceTest : public ::testing::Test {
 protected:
  RankSilenceTest() { heartbeat_.do_work(now_, {}); }

  /// Returns the messages.
  std::string pass(std::chrono::nanoseconds time) {
    ::testing::internal::CaptureStdout();
    try {
      for (const auto until = now_ + time; now_ < until; now_ += milliseconds(100)) turn();
    } catch (const Ended&) {
      ended_ = true;
    }
    return ::testing::internal::GetCapturedStdout();
  }
  void turn() {
    silence_.begin_turn(now_);
    heartbeat_.do_work(now_, {});
    silence_.look(now_);
  }

  FakeWatch watch_;
  SteadyTime now_{seconds(1000)};
  Heartbeat heartbeat_{std::make_unique<SilentChannel>(), 0, 2, milliseconds(200), seconds(2)};
  RankSilence silence_{watch_, heartbeat_, 0};
  bool ended_ = false;
};

std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::ranges::count(text, '\n')); }

TEST_F(RankSilenceTest, ARankThatDoesNotAnswerIsReportedEachTimeItsSilenceHasDoubled) {
  EXPECT_EQ(pass(seconds(9)), "");
  EXPECT_NE(pass(seconds(2)).find("rank 1 has not answered for 10.0 s"), std::string::npos);
  EXPECT_EQ(pass(seconds(8)), "");
  EXPECT_EQ(lines(pass(seconds(2))), 1U);
  EXPECT_EQ(watch_.entered_, 1);
  EXPECT_EQ(watch_.turns_, 210);
}

TEST_F(RankSilenceTest, WhatTheWatchReportsIsNotRepeated) {
  watch_.reported_ = true;
  EXPECT_EQ(pass(seconds(50)), "");
}

TEST_F(RankSilenceTest, TooLongASilenceEndsTheProgramAfterANotice) {
  pass(seconds(60));
  EXPECT_EQ(silence_.failure(), "");
  EXPECT_NE(pass(milliseconds(400)).find("longer than " + name_of(Setting::stall_timeout) + ": the run ends; advice"),
            std::string::npos);
  EXPECT_TRUE(watch_.quiet_ && !ended_);
  EXPECT_EQ(silence_.failure(), "rank 1 has been silent for longer than " + name_of(Setting::stall_timeout));
  pass(seconds(1));
  EXPECT_TRUE(ended_);
}

TEST_F(RankSilenceTest, ALostRankEndsTheProgramOnceAllHaveSeenIt) {
  watch_.lost_ = 1;
  pass(milliseconds(500));
  EXPECT_FALSE(ended_);
  EXPECT_EQ(silence_.failure(), "rank 1 is lost");
  pass(milliseconds(100));
  EXPECT_TRUE(ended_);
}

/// This rank was stopped for a minute.
TEST_F(RankSilenceTest, TimeWithoutATurnIsNoSilence) {
  pass(seconds(1));
  now_ += seconds(60);
  EXPECT_EQ(pass(seconds(5)), "");
  EXPECT_EQ(silence_.failure(), "");
}

TEST_F(RankSilenceTest, ARankAskedToTerminateReportsTheSilentOnce) {
  watch_.signal_ = SIGTERM;
  const auto text = pass(seconds(5));
  EXPECT_EQ(lines(text), 1U) << text;
  EXPECT_NE(text.find("while the run is being ended"), std::string::npos);
}

TEST_F(RankSilenceTest, AStandstillIsReportedUnlessTheRunMayRest) {
  const auto rounds = [&](bool may_rest) {
    ::testing::internal::CaptureStdout();
    for (int i = 0; i <= 12; ++i) silence_.note_round(now_ += seconds(1), 5, may_rest, 3);
    return ::testing::internal::GetCapturedStdout();
  };
  EXPECT_EQ(rounds(true), "");
  const auto text = rounds(false);
  EXPECT_NE(text.find("no rank has made progress for 10.0 s"), std::string::npos) << text;
  EXPECT_EQ(lines(text), 1U);
}

}  // namespace
}  // namespace eventloom
