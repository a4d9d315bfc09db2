#include "io/recorded/turn_watch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/recorded/era_plan.hpp"
#include "io/recorded/step_back.hpp"

namespace eventloom {
namespace {

/// The width found in times of a clock with `ticks` per unit whose number 0 is at `zero`.
unsigned found(const std::vector<Tick>& times, double ticks = 1, double zero = 0, bool certain = false) {
  TurnWatch watch({zero, ticks, "units"});
  for (const auto time : times) watch.take(time);
  const auto turn = watch.found(certain);
  return turn ? turn->bits : 0;
}

std::vector<Tick> turning(unsigned bits, std::uint64_t step, std::size_t n, std::uint64_t ticks = 1) {
  std::vector<Tick> times(n);
  for (std::size_t i = 0; i < n; ++i) times[i] = Tick((i * step & ((std::uint64_t{1} << bits) - 1)) * ticks);
  return times;
}

TEST(TurnWatch, FindsTurnsOfEveryWidth) {
  for (unsigned bits = 16; bits <= 48; ++bits) {
    const auto step = (std::uint64_t{1} << bits) / 99;
    EXPECT_EQ(found(turning(bits, step, 150)), bits);
    EXPECT_EQ(found(turning(bits, step, 150, 50), 50), bits);
    EXPECT_EQ(found(turning(bits, step, 99)), 0U) << "no turn yet";
  }
  EXPECT_EQ(found(turning(15, 331, 500)), 0U);
  EXPECT_EQ(found(turning(49, std::uint64_t{1} << 42, 500)), 0U);
}

TEST(TurnWatch, IsCertainAfterManyTurns) {
  EXPECT_EQ(found(turning(20, 10'007, 300), 1, 0, true), 0U);
  EXPECT_EQ(found(turning(20, 10'007, 2000), 1, 0, true), 20U);
}

TEST(TurnWatch, KnowsSignedCountersByTheirOrigin) {
  auto times = turning(16, 331, 1000);
  for (auto& time : times) time = Tick((time.value + 0x8000) & 0xffff);
  EXPECT_EQ(found(times, 1, 0x8000), 16U);
}

TEST(TurnWatch, ForgetsTurnsOfACounterThatGoesOn) {
  auto times = turning(16, 331, 1000);
  times.emplace_back(70'000);
  EXPECT_EQ(found(times), 0U);
}

TEST(TurnWatch, TakesNoShuffledHitsForTurns) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::vector<Tick> times(300);
    for (std::size_t i = 0; i < times.size(); ++i) times[i] = Tick(i * 219);
    std::shuffle(times.begin(), times.end(), std::mt19937(seed));
    EXPECT_EQ(found(times), 0U) << seed;
  }
}

TEST(StepBack, ASingleLateHitIsDisorderAndOneAtZeroIsNot) {
  std::vector<Tick> before(1000);
  for (std::size_t i = 0; i < before.size(); ++i) before[i] = Tick(1'000'000 + i * 1000);
  const auto judged = [&](Tick to, const std::vector<Tick>& behind) {
    SeenTime seen;
    seen.run_on(before);
    StepBack step(seen, before.back(), to, 10'000);
    for (const auto time : behind) step.take(time);
    return step.is_disorder();
  };
  EXPECT_TRUE(judged(1'500'000, {2'000'000, 2'001'000}));
  EXPECT_FALSE(judged(0, {2'000'000, 2'001'000}));
  std::vector<Tick> again = before;
  again.erase(again.begin());
  EXPECT_FALSE(judged(before.front(), again));
  EXPECT_FALSE(judged(1'300'000, {before.begin() + 301, before.end()})) << "it goes on through times it has passed";
}

TEST(EraPlan, EachEraBeginsAtOneTimeForAllSources) {
  const std::vector<SourceEras> sources = {
      {"a", {{0, 100}, {50, 400}, {7, 9}}}, {"none", {}}, {"b", {{3, 90}, {40, 300}, {6, 8}}}};
  const auto places = place_eras(sources, 10);
  ASSERT_EQ(places.size(), 2U);
  EXPECT_EQ(places[0].begin, Tick(100));
  EXPECT_EQ(places[0].added, Tick(70)) << "the first hit of any source, at 40, comes 10 after the last, at 100";
  EXPECT_EQ(places[1].begin, Tick(470));
  EXPECT_EQ(places[1].added, Tick(474));
}

TEST(EraPlan, RefusesJumpsThatDoNotCorrespond) {
  EXPECT_THROW(place_eras(std::vector<SourceEras>{{"a", {{0, 1}, {0, 1}}}, {"b", {{0, 1}}}}, 10), UserError);
}

}  // namespace
}  // namespace eventloom
