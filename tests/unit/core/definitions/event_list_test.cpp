#include "core/definitions/event_list.hpp"

#include <gtest/gtest.h>

#include "found_events.hpp"

namespace eventloom::test {

namespace {

/// The slice [100, 200), in which events may be 30 ticks long.
constexpr SliceBounds kBounds{5000, 100, 200, 30};

std::vector<bool> truncated(const EventList& list) {
  std::vector<bool> out;
  for (const auto& event : list.events()) out.push_back(event.truncated);
  return out;
}

}  // namespace

TEST(EventList, TakesEventsWithAHitInTheSlice) {
  const auto keys = keys_at({80, 90, 99, 100, 150, 199, 200, 210});
  EventList list;
  list.restart(keys, kBounds);
  EXPECT_TRUE(list.add_run({0, 2}));   // ends before the slice
  EXPECT_TRUE(list.add_run({2, 4}));   // reaches into it
  EXPECT_TRUE(list.add_run({5, 8}));   // extends beyond it
  EXPECT_FALSE(list.add_run({6, 8}));  // begins behind it
  EXPECT_EQ(times_of(list), (std::vector<Times>{{99, 100}, {199, 200, 210}}));
}

TEST(EventList, ReachingOverTheSliceIsNotEnough) {
  const auto keys = keys_at({90, 205});
  EventList list;
  list.restart(keys, {5000, 100, 200, 200});
  EXPECT_TRUE(list.add_run({0, 2}));
  EXPECT_TRUE(list.events().empty());
}

TEST(EventList, CutsAtTheOverlap) {
  const auto keys = keys_at({110, 120, 140, 141, 150, 151});
  EventList list;
  list.restart(keys, kBounds);
  EXPECT_TRUE(list.add_run({0, 4}));
  EXPECT_TRUE(list.add_run({4, 6, true}));
  EXPECT_EQ(times_of(list), (std::vector<Times>{{110, 120, 140}, {150, 151}}));
  EXPECT_EQ(truncated(list), (std::vector<bool>{true, true}));
}

TEST(EventList, ListsNeedNotBeNeighbours) {
  const auto keys = keys_at({80, 90, 110, 111, 120, 130, 145, 190});
  EventList list;
  list.restart(keys, kBounds);
  EXPECT_TRUE(list.add_list(std::vector{keys[0], keys[1]}));
  EXPECT_TRUE(list.add_list(std::vector{keys[2], keys[4], keys[6]}));
  EXPECT_TRUE(list.add_list(std::vector{keys[3], keys[7]}));
  EXPECT_EQ(times_of(list), (std::vector<Times>{{110, 120}, {111}}));
  EXPECT_EQ(truncated(list), (std::vector<bool>{true, true}));
  list.restart(keys, kBounds);
  EXPECT_TRUE(list.add_run({2, 4}));
  EXPECT_EQ(times_of(list), (std::vector<Times>{{110, 111}}));
}

}  // namespace eventloom::test
