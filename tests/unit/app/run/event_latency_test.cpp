#include "app/run/event_latency.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace eventloom {
namespace {

std::int64_t unix_now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

BuiltSlice slice_of(std::initializer_list<Tick> times) {
  BuiltSlice slice;
  for (const Tick time : times) {
    slice.events.time.push_back(time);
    slice.events.owned.push_back(1);
  }
  return slice;
}

constexpr double kHour = 3600e9;

/// The latency is the time from the first hit to now: it lies between the clock's readings before and after the call.
TEST(EventLatency, IsTheAgeOfTheFirstHit) {
  const std::int64_t started = unix_now_ns() - std::int64_t{7200} * 1'000'000'000;
  EventLatency latency(started, 500);
  const Tick hour = Tick{3600} * 1'000'000'000 * 2;  // ticks of 500 ps
  const auto before = static_cast<double>(unix_now_ns() - started) - kHour;
  latency.add(slice_of({hour}));
  const auto after = static_cast<double>(unix_now_ns() - started) - kHour;
  ASSERT_EQ(latency.histogram().count(), 1U);
  EXPECT_GE(latency.histogram().min(), before - 1000);
  EXPECT_LE(latency.histogram().max(), after + 1000);
}

TEST(EventLatency, CountsEachEventThatTheSliceOwns) {
  EventLatency latency(unix_now_ns(), 1000);
  auto slice = slice_of({10, 20, 30});
  slice.events.owned[1] = 0;
  latency.add(slice);
  latency.add(slice_of({}));
  latency.add(slice_of({40}));
  EXPECT_EQ(latency.histogram().count(), 3U);
}

/// The clocks of two hosts may differ, so that an event seems to be built before it happened.
TEST(EventLatency, MayBeNegative) {
  EventLatency latency(unix_now_ns() + std::int64_t{3600} * 1'000'000'000, 1000);
  latency.add(slice_of({0}));
  EXPECT_EQ(latency.histogram().count(), 1U);
  EXPECT_LT(latency.histogram().min(), 0);
}

}  // namespace
}  // namespace eventloom
