#include "core/dataflow/dead_time.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

namespace eventloom {
namespace {

/// Which of the hits count if the channel is ready at tick 0.
std::vector<bool> serial(const std::vector<Tick>& times, Tick dead) {
  std::vector<bool> counts;
  Tick ready = 0;
  for (const Tick time : times) {
    counts.push_back(time >= ready);
    if (counts.back()) ready = time + dead;
  }
  return counts;
}

std::vector<Tick> random_times(double mean, std::uint32_t seed, std::size_t n) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> pause(1 / mean);
  std::vector<Tick> times;
  for (double at = 0; times.size() < n;) times.emplace_back(static_cast<std::uint64_t>(at += pause(random)));
  return times;
}

TEST(DeadTime, EqualsASerialLoop) {
  const Tick kDead = 1000;
  for (const double mean : {100., 300., 1000., 20000.}) {
    const auto times = random_times(mean, 1, 20000);
    const auto expected = serial(times, kDead);
    ChannelDeadTime channel;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < times.size(); ++i) wrong += channel.take(times[i], kDead) != expected[i] ? 1 : 0;
    EXPECT_LE(wrong, mean < 200 ? times.size() / 50 : 0) << mean;
  }
}

TEST(DeadTime, DoesNotDependOnWhereItBegins) {
  const Tick kDead = 1000;
  for (const double mean : {60., 400., 5000.}) {
    const auto times = random_times(mean, 2, 20000);
    ChannelDeadTime whole;
    std::vector<bool> counts;
    for (const Tick time : times) counts.push_back(whole.take(time, kDead));
    for (std::size_t first = 1; first < times.size(); first += 1777) {
      ChannelDeadTime part;
      for (std::size_t i = first; i < times.size(); ++i) {
        const bool taken = part.take(times[i], kDead);
        const bool is_certain = times[i] >= times[first] + dead_time_history(kDead);
        ASSERT_TRUE(taken == counts[i] || !is_certain) << mean << " " << i;
      }
    }
  }
}

TEST(DeadTime, EndsExactly) {
  ChannelDeadTime channel;
  EXPECT_TRUE(channel.take(7, 10));
  EXPECT_FALSE(channel.take(7, 10));
  EXPECT_FALSE(channel.take(16, 10));
  EXPECT_TRUE(channel.take(17, 10)) << "a hit within the dead time does not extend it";
}

TEST(DeadTime, PossibilitiesMerge) {
  PossibleDeadTimes possible;
  possible.restart(100, 10);
  EXPECT_FALSE(possible.is_certain());
  possible.see(103, 10);  // may lie in a dead time that began earlier
  EXPECT_FALSE(possible.is_certain());
  possible.see(130, 10);
  ASSERT_TRUE(possible.is_certain()) << "after a pause";
  EXPECT_EQ(possible.ready(), Tick(140));
}

}  // namespace
}  // namespace eventloom
