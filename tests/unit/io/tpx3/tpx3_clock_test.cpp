#include "io/tpx3/tpx3_clock.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace eventloom {
namespace {

constexpr auto kPeriod = static_cast<std::int64_t>(kTpx3PixelPeriod);
constexpr std::int64_t kSecond = Tpx3Clock::kNear;
constexpr std::uint64_t kStepsOfToA = kTpx3StepsPer25ns;

/// The time as a pixel stores it.
std::uint64_t pixel(std::int64_t time) {
  const auto coarse = static_cast<std::uint64_t>(time) / kStepsOfToA % (1U << 30);
  return std::uint64_t{0xb} << 60 | (coarse & 0x3fff) << 30 | coarse >> 14;
}
Tpx3Time time_of(std::uint64_t word) { return {Tpx3Packet(word).pixel_time(), kTpx3PixelPeriod}; }
std::uint64_t tdc(std::int64_t time) {
  return std::uint64_t{0x6f} << 56 | static_cast<std::uint64_t>(time) / 12 % (std::uint64_t{1} << 35) << 9 | 1 << 5;
}
std::uint64_t global_low(std::int64_t time) {
  return std::uint64_t{0x44} << 56 | (static_cast<std::uint64_t>(time) / kStepsOfToA & 0xffffffff) << 16;
}
std::uint64_t global_high(std::int64_t time) {
  return std::uint64_t{0x45} << 56 | static_cast<std::uint64_t>(time) / kStepsOfToA >> 32 << 16;
}

Tpx3Preview preview(const std::vector<std::uint64_t>& words) {
  Tpx3Preview ahead(words.size());
  for (const auto word : words) EXPECT_TRUE(ahead.take(word));
  return ahead;
}
Tpx3Preview of_pixels(const std::vector<std::int64_t>& times) {
  std::vector<std::uint64_t> words;
  for (const auto time : times) words.push_back(pixel(time));
  return preview(words);
}

/// Places a pixel that others follow within a millisecond.
Tpx3Clock::Placed placed(Tpx3Clock& clock, std::int64_t time) {
  return clock.extend(time_of(pixel(time)), [time] {
    return of_pixels({time + kSecond / 2000, time + kSecond / 1000});
  });
}
/// Extends a time that is near the others.
std::int64_t extended(Tpx3Clock& clock, std::int64_t time) {
  const auto place = clock.extend(time_of(pixel(time)), [] {
    ADD_FAILURE() << "the packet is not far from the others";
    return Tpx3Preview();
  });
  return place.time;
}

TEST(Tpx3Clock, ContinuesWhereTimesRestart) {
  Tpx3Clock clock;
  for (std::int64_t time = 0; time < 10 * kPeriod; time += kSecond / 2) EXPECT_EQ(extended(clock, time), time);
}

TEST(Tpx3Clock, TakesPacketsOutOfOrderAtTheBorder) {
  Tpx3Clock clock;
  for (std::int64_t time = 0; time < kPeriod; time += kSecond) (void)extended(clock, time);
  for (const std::int64_t time : {kPeriod + 960, kPeriod - 960, kPeriod - kSecond / 2, kPeriod + 1920, kPeriod - 96}) {
    EXPECT_EQ(extended(clock, time), time);
  }
}

TEST(Tpx3Clock, AFileMayBeginWhereTimesStartAgain) {
  Tpx3Clock clock;
  clock.begin_file(of_pixels({kPeriod + 96, kPeriod - 96}));
  EXPECT_EQ(extended(clock, kPeriod + 96), kPeriod + 96);
  EXPECT_EQ(extended(clock, kPeriod - 96), kPeriod - 96);
}

TEST(Tpx3Clock, AnFToAMayLieBeforeTheReset) {
  Tpx3Clock clock;
  clock.begin_file(of_pixels({0, 96}));
  EXPECT_EQ(clock.extend({-6, kTpx3PixelPeriod}, [] { return Tpx3Preview(); }).time, -6);
}

TEST(Tpx3Clock, ATimeThatNoneOfTheNextAgreesWithIsStray) {
  Tpx3Clock clock;
  (void)extended(clock, 0);
  const auto place = clock.extend(time_of(pixel(10 * kSecond)), [] { return of_pixels({96, 192}); });
  EXPECT_EQ(place.step, Tpx3Step::stray);
  EXPECT_EQ(extended(clock, 960), 960) << "it moves nothing";
}

TEST(Tpx3Clock, APauseIsBelievedWhenOthersAgree) {
  Tpx3Clock clock;
  (void)extended(clock, 0);
  const auto pause = placed(clock, 10 * kSecond);
  EXPECT_EQ(pause.step, Tpx3Step::pause);
  EXPECT_EQ(pause.time, 10 * kSecond);
  EXPECT_EQ(placed(clock, 25 * kSecond).step, Tpx3Step::guess) << "for more than half of a period";
  const auto turned = placed(clock, kPeriod + 4 * kSecond);
  EXPECT_EQ(turned.step, Tpx3Step::none) << "not longer than others of a stream with rare packets";
  EXPECT_EQ(turned.time, kPeriod + 4 * kSecond);
}

TEST(Tpx3Clock, AResetIsNoPlaceWhereTimesStartAgain) {
  for (const std::int64_t seconds : {10, 15, 20, 25, 37, 50}) {
    Tpx3Clock clock;
    for (std::int64_t time = 0; time <= seconds * kSecond; time += kSecond / 2) (void)extended(clock, time);
    const auto place = placed(clock, kSecond / 1000);
    EXPECT_EQ(place.step, Tpx3Step::back) << seconds;
    EXPECT_LE(place.time, (seconds - 1) * kSecond) << seconds;
    EXPECT_EQ((place.time - kSecond / 1000) % kPeriod, 0) << seconds;
    EXPECT_EQ(extended(clock, kSecond / 100) - place.time, kSecond / 100 - kSecond / 1000) << "it continues from there";
  }
}

TEST(Tpx3Clock, ContinuesBetweenFiles) {
  for (const std::int64_t next : {kPeriod + kSecond / 2, kPeriod + 8 * kSecond}) {
    Tpx3Clock clock;
    clock.begin_file(of_pixels({20 * kSecond}));
    (void)extended(clock, 20 * kSecond);
    clock.begin_file(of_pixels({next}));
    EXPECT_EQ(placed(clock, next).time, next);
  }
}

TEST(Tpx3Clock, TdcEdgesAndPixelsShareOneTime) {
  Tpx3Clock clock;
  clock.begin_file(preview({tdc(3 * kPeriod + 480)}));
  const Tpx3Time edge{(3 * kPeriod + 672) % static_cast<std::int64_t>(kTpx3TdcPeriod), kTpx3TdcPeriod};
  EXPECT_EQ(clock.extend(edge, [] { return Tpx3Preview(); }).time, 3 * kPeriod + 672);
  EXPECT_EQ(extended(clock, 3 * kPeriod + 864), 3 * kPeriod + 864);
}

TEST(Tpx3Clock, ATdcEdgeAheadMeasuresAPause) {
  Tpx3Clock clock;
  (void)extended(clock, 0);
  constexpr std::int64_t next = kPeriod + 15 * kSecond;
  const auto place = clock.extend(time_of(pixel(next)), [] { return preview({pixel(next + 96), tdc(next + 960)}); });
  EXPECT_EQ(place.step, Tpx3Step::pause);
  EXPECT_EQ(place.time, next);
}

TEST(Tpx3Clock, GlobalTimesBridgeAPause) {
  Tpx3Clock clock;
  (void)extended(clock, 0);
  for (std::int64_t time = kSecond; time < 5 * kPeriod; time += kSecond) clock.heed(time);
  EXPECT_EQ(extended(clock, 5 * kPeriod), 5 * kPeriod);
  clock.heed(1000 * kPeriod);
  EXPECT_EQ(extended(clock, 5 * kPeriod + 96), 5 * kPeriod + 96) << "a single one is not accepted";
  clock.heed(1000 * kPeriod + kSecond);
  EXPECT_EQ(extended(clock, 1000 * kPeriod + kSecond), 1000 * kPeriod + kSecond);
}

TEST(Tpx3Clock, AGlobalTimeAheadShowsAReset) {
  Tpx3Clock clock;
  clock.begin_file(preview({global_low(7 * kPeriod), global_high(7 * kPeriod)}));
  EXPECT_EQ(extended(clock, 7 * kPeriod), 7 * kPeriod);
  const auto place = clock.extend(time_of(pixel(5 * kSecond)), [] {
    return preview({pixel(5 * kSecond + 96), global_low(6 * kSecond), global_high(6 * kSecond)});
  });
  EXPECT_EQ(place.step, Tpx3Step::back);
  EXPECT_EQ(place.time, 5 * kSecond);
}

}  // namespace
}  // namespace eventloom
