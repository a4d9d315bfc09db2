#include "io/recorded/clock_beginnings.hpp"

#include <gtest/gtest.h>

namespace eventloom {
namespace {

using Turns = std::vector<std::uint64_t>;

std::optional<Turns> turns_of(const std::vector<ClockBeginning>& sources) { return first_turns(sources, 1000); }

TEST(ClockBeginnings, TheEarliestBeginsInTurn0) {
  EXPECT_EQ(turns_of({}), Turns());
  EXPECT_EQ(turns_of({{700}}), Turns{0});
  EXPECT_EQ(turns_of({{100}, {400}, {599}}), (Turns{0, 0, 0}));
  EXPECT_EQ(turns_of({{10}, {990}, {20}, {980}}), (Turns{1, 0, 1, 0}));
  EXPECT_EQ(turns_of({{0}, {500}}), (Turns{0, 0}));
  EXPECT_EQ(turns_of({{0}, {501}}), (Turns{1, 0}));
}

TEST(ClockBeginnings, NoNumberComesBefore0) {
  EXPECT_EQ(turns_of({{10, 10}, {50, 5}}), (Turns{0, 0}));
  EXPECT_EQ(turns_of({{10, 11}, {50, 5}}), (Turns{1, 1}));
  EXPECT_EQ(turns_of({{10, 20}, {990, 5}}), (Turns{1, 0})) << "the first one is behind the turn";
}

TEST(ClockBeginnings, SpreadOverMoreThanHalfATurnTheyAreAmbiguous) {
  EXPECT_EQ(turns_of({{0}, {300}, {700}}), std::nullopt);
  EXPECT_EQ(turns_of({{0}, {250}, {500}}), (Turns{0, 0, 0}));
}

}  // namespace
}  // namespace eventloom
