#include <gtest/gtest.h>

#include "io/serve/mbs_sender_pacer.hpp"

namespace eventloom {
namespace {

constexpr std::int64_t kStart = 5000;

TEST(MbsPacer, ARateGivesEqualStepsWithoutDrift) {
  MbsPacer pacer({.rate = 3e6});
  pacer.start(kStart);
  EXPECT_EQ(pacer.due({}), kStart);
  std::int64_t last = 0;
  for (int i = 0; i < 3'000'000; ++i) last = pacer.due({});
  EXPECT_NEAR(static_cast<double>(last - kStart), 1e9, 2);
}

TEST(MbsPacer, ASpeedScalesTheStepsOfTime) {
  MbsPacer pacer({.speed = 2});
  pacer.start(kStart);
  EXPECT_EQ(pacer.due(Tick{1'000'000}), kStart);
  EXPECT_EQ(pacer.due(Tick{1'000'300}), kStart + 150);
  EXPECT_EQ(pacer.due({}), kStart + 150);
  EXPECT_EQ(pacer.due(Tick{1'001'000}), kStart + 500);
}

TEST(MbsPacer, TimesThatJumpRestart) {
  MbsPacer pacer({.speed = 1});
  pacer.start(kStart);
  pacer.due(Tick{1000});
  EXPECT_EQ(pacer.due(Tick{10}), kStart);
  EXPECT_EQ(pacer.due(Tick{30}), kStart + 20);
  EXPECT_EQ(pacer.due(Tick{30 + 3601'000'000'000}), kStart + 20);
  EXPECT_EQ(pacer.time_jumps(), 2U);
  EXPECT_EQ(pacer.due(Tick{30 + 3601'000'000'000 + 3599'000'000'000}), kStart + 20 + 3599'000'000'000);
  EXPECT_EQ(pacer.time_jumps(), 2U);
}

TEST(MbsPacer, ADelayMovesWhatFollows) {
  MbsPacer pacer({.rate = 1e9});
  pacer.start(kStart);
  pacer.due({});
  pacer.delay(100);
  EXPECT_EQ(pacer.due({}), kStart + 101);
}

TEST(MbsPacer, FlatOutAllIsDueAtOnce) {
  MbsPacer pacer({});
  pacer.start(kStart);
  EXPECT_EQ(pacer.due(Tick{5}), kStart);
  EXPECT_EQ(pacer.due(Tick{5000}), kStart);
}

}  // namespace
}  // namespace eventloom
