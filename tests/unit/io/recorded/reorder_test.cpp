#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/recorded/reorder_buffer.hpp"
#include "list_reader.hpp"

namespace eventloom {
namespace {

std::vector<std::uint32_t> order_of(const std::vector<Tick>& times, ReorderLimits limits, std::size_t at_once) {
  ListReader reader(times, at_once);
  ReorderBuffer buffer(reader.name(), limits, 1000);
  std::vector<std::uint32_t> order;
  ReorderBuffer::Hit hit;
  for (bool ended = false;;) {
    while (buffer.next(hit)) order.push_back(hit.channel);
    if (ended) return order;
    auto block = buffer.spare();
    ended = !reader.read(block);
    if (ended) {
      buffer.end();
    } else {
      buffer.push(std::move(block));
    }
  }
}

TEST(ReorderBuffer, SortsByTimeAndKeepsTheOrderOfEqualTimes) {
  std::mt19937 random(1);
  std::vector<Tick> times;
  for (Tick t = 0; t < 3000; ++t) times.push_back(t / 3 * 10 + Tick(random() % 200));
  std::vector<std::uint32_t> expected(times.size());
  for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] = i;
  std::ranges::stable_sort(expected, {}, [&](auto i) { return times[i]; });
  for (const std::size_t at_once : {1UL, 7UL, 500UL, 5000UL}) EXPECT_EQ(order_of(times, {300}, at_once), expected);
}

TEST(ReorderBuffer, SortsWithinASpanOfTimeHoweverManyHitsItHolds) {
  std::mt19937 random(2);
  std::vector<Tick> times;
  for (Tick t = 0; t < 5000; ++t) times.push_back(t + Tick(random() % 1000));
  std::vector<std::uint32_t> expected(times.size());
  for (std::uint32_t i = 0; i < expected.size(); ++i) expected[i] = i;
  std::ranges::stable_sort(expected, {}, [&](auto i) { return times[i]; });
  for (const std::size_t at_once : {1UL, 7UL, 5000UL}) {
    EXPECT_EQ(order_of(times, {.hits = kMaxReorderHits, .span = 999}, at_once), expected);
  }
}

/// Followed data are built as soon as no earlier hit can come.
TEST(ReorderBuffer, FewHitsWaitNoLongerThanTheSpan) {
  ReorderBuffer buffer("list", {.hits = kMaxReorderHits, .span = 100}, 1000);
  ReorderBuffer::Hit hit;
  for (Tick t = 0; t < 5000; t += 10) {
    HitBlock block;
    block.time.push_back(t);
    block.channel.push_back(0);
    buffer.push(std::move(block));
    while (buffer.next(hit)) {
    }
    EXPECT_LE(buffer.waiting(), 11U);
  }
}

TEST(ReorderBuffer, DeliversWhatLiesFurtherBackThanItsSpan) {
  ReorderBuffer buffer("list", {.hits = kMaxReorderHits, .span = 100}, 1000);
  HitBlock block;
  for (Tick t = 0; t < 1000; ++t) {
    block.time.push_back(t);
    block.channel.push_back(0);
  }
  buffer.push(std::move(block));
  ReorderBuffer::Hit hit;
  while (buffer.next(hit)) {
  }
  EXPECT_EQ(hit.time, Tick(899)) << "999: a hit of 899 may still come, and is placed after this one";
  EXPECT_EQ(buffer.waiting(), 100U);
}

/// One hit at time 0 after `n` later ones.
std::vector<Tick> late_by(std::size_t n) {
  std::vector<Tick> times(n);
  for (std::size_t i = 0; i < n; ++i) times[i] = Tick(100 + i);
  times.push_back(0);
  return times;
}

TEST(ReorderBuffer, SortsAHitThatIsLateByItsCapacity) {
  EXPECT_EQ(order_of(late_by(50), {50}, 1).front(), 50U);
  EXPECT_EQ(order_of(late_by(99), {50}, 1).front(), 99U) << "up to twice the capacity are held";
}

TEST(ReorderBuffer, NamesAHitThatIsTooLate) {
  try {
    order_of(late_by(1000), {50}, 1);
    FAIL() << "hit 1001 is 1000 hits late";
  } catch (const UserError& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("hit number 1001"), std::string::npos) << text;
    EXPECT_NE(text.find("list"), std::string::npos) << text;
    EXPECT_NE(text.find("add ?reorder=1.099us"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace eventloom
