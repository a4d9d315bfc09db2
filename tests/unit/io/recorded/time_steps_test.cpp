#include "io/recorded/time_steps.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace eventloom {
namespace {

constexpr Tick kLimit = 1000;

/// The times that are kept.
std::vector<Tick> kept(const std::vector<Tick>& times) {
  TimeSteps steps(kLimit);
  std::vector<Tick> out;
  for (const Tick time : times) {
    const auto judgement = steps.judge(time);
    if (judgement.previous) out.pop_back();
    if (!judgement.current) out.push_back(judgement.tick);
  }
  if (steps.finish()) out.pop_back();
  EXPECT_EQ(steps.out_of_step(), times.size() - out.size());
  return out;
}

using Ticks = std::vector<Tick>;

TEST(TimeSteps, ForwardAndBackWithinTheLimit) {
  EXPECT_EQ(kept({5, 900, 100, 1100, 2100}), (Ticks{5, 900, 100, 1100, 2100}));
}

TEST(TimeSteps, AStampFarFromItsNeighboursGoes) {
  EXPECT_EQ(kept({10, 20, 1'000'000, 30, 40}), (Ticks{10, 20, 30, 40}));
  EXPECT_EQ(kept({10'000, 10'010, 3, 10'020}), (Ticks{10'000, 10'010, 10'020})) << "behind them";
  EXPECT_EQ(kept({10, 15, std::numeric_limits<Tick>::max(), 20}), (Ticks{10, 15, 20}));
  EXPECT_EQ(kept({10, 20, 500'000, 900'000, 30}), (Ticks{10, 20, 30})) << "two, far from each other, too";
}

TEST(TimeSteps, ALongPauseIsAcceptedWhenTimesContinueAfterIt) {
  EXPECT_EQ(kept({10, 20, 50'000, 50'010, 50'020}), (Ticks{10, 20, 50'000, 50'010, 50'020}));
}

TEST(TimeSteps, TheFirstGoesWhenTheSecondIsFar) { EXPECT_EQ(kept({900'000, 10, 20, 30}), (Ticks{10, 20, 30})); }

TEST(TimeSteps, WhatFollowsAWrongFirstIsDoubtedToo) {
  EXPECT_EQ(kept({900'000, 10, 500'000, 500'010}), (Ticks{500'000, 500'010}));
}

TEST(TimeSteps, TheLastGoesWhenNothingConfirmsIt) {
  EXPECT_EQ(kept({10, 20, 70'000}), (Ticks{10, 20}));
  EXPECT_EQ(kept({70'000}), (Ticks{70'000})) << "the only one is kept";
}

TEST(TimeSteps, JustTheLimitIsNear) {
  EXPECT_EQ(kept({0, kLimit, kLimit}), (Ticks{0, kLimit, kLimit}));
  EXPECT_EQ(kept({0, 0, kLimit + 1, 0}), (Ticks{0, 0, 0}));
}

}  // namespace
}  // namespace eventloom
