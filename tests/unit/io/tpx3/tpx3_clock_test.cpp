#include "io/tpx3/tpx3_clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace eventloom {
namespace {

constexpr auto kPeriod = static_cast<std::int64_t>(kTpx3PixelPeriod);
constexpr std::int64_t kSecond = std::int64_t{40'000'000} * kTpx3StepsPer25ns;

/// As a pixel has it.
std::int64_t extended(Tpx3Clock& clock, std::int64_t time) { return clock.extend(time % kPeriod, kTpx3PixelPeriod); }

TEST(Tpx3Clock, GoesOnWhereTimesStartAgain) {
  Tpx3Clock clock;
  for (std::int64_t time = 0; time < 10 * kPeriod; time += kSecond / 2) EXPECT_EQ(extended(clock, time), time);
}

TEST(Tpx3Clock, TakesPacketsOutOfOrderAtTheBorder) {
  Tpx3Clock clock;
  for (std::int64_t time = 0; time < kPeriod; time += kSecond) (void)extended(clock, time);
  for (const std::int64_t time : {kPeriod + 5, kPeriod - 5, kPeriod - 10 * kSecond, kPeriod + 6, kPeriod - 1}) {
    EXPECT_EQ(extended(clock, time), time);
  }
}

TEST(Tpx3Clock, NothingHasStartedAgainBeforeTheFirstPass) {
  Tpx3Clock clock;
  EXPECT_EQ(clock.extend(5, kTpx3PixelPeriod), 5);
  EXPECT_EQ(clock.extend(kPeriod - 7, kTpx3PixelPeriod), kPeriod - 7);
  EXPECT_EQ(clock.extend(-6, kTpx3PixelPeriod), -6) << "an FToA before the reset";
}

TEST(Tpx3Clock, BelievesAJumpWhenTheNextPacketAgrees) {
  Tpx3Clock clock;
  (void)extended(clock, 0);
  EXPECT_EQ(extended(clock, 10 * kSecond), 10 * kSecond) << "it is doubted";
  EXPECT_EQ(extended(clock, 1), 1);
  EXPECT_EQ(extended(clock, 10 * kSecond), 10 * kSecond);
  EXPECT_EQ(extended(clock, 10 * kSecond + 1), 10 * kSecond + 1) << "it is believed";
  EXPECT_EQ(extended(clock, 20 * kSecond), 20 * kSecond);
  EXPECT_EQ(extended(clock, 20 * kSecond), 20 * kSecond);
  EXPECT_EQ(extended(clock, kPeriod + 5 * kSecond), kPeriod + 5 * kSecond);
}

TEST(Tpx3Clock, TdcEdgesAndPixelsShareOneTime) {
  Tpx3Clock clock;
  clock.set(3 * kPeriod + 5);
  EXPECT_EQ(clock.extend((3 * kPeriod + 7) % static_cast<std::int64_t>(kTpx3TdcPeriod), kTpx3TdcPeriod),
            3 * kPeriod + 7);
  EXPECT_EQ(extended(clock, 3 * kPeriod + 9), 3 * kPeriod + 9);
}

TEST(Tpx3Clock, GlobalTimesBridgeAPause) {
  Tpx3Clock clock;
  (void)extended(clock, 0);
  for (std::int64_t time = kSecond; time < 5 * kPeriod; time += kSecond) clock.heed(time);
  EXPECT_EQ(extended(clock, 5 * kPeriod), 5 * kPeriod);
  clock.heed(1000 * kPeriod);
  EXPECT_EQ(extended(clock, 5 * kPeriod + 1), 5 * kPeriod + 1) << "one alone is not believed";
  clock.heed(1000 * kPeriod + kSecond);
  EXPECT_EQ(extended(clock, 1000 * kPeriod + kSecond), 1000 * kPeriod + kSecond);
}

}  // namespace
}  // namespace eventloom
