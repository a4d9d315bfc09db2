#include "core/definitions/gap.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "found_events.hpp"

namespace eventloom::test {

TEST(Gap, IsParsedInTicksAndWithUnit) {
  EXPECT_EQ(parse_event_definition("gap:25,4", 1000)->text(), "gap:25,4");
  EXPECT_EQ(parse_event_definition("gap:25ns,4", 500)->text(), "gap:50,4");
  EXPECT_EQ(parse_event_definition(" gap : 0 , 1 ", 1000)->text(), "gap:0,1");
  EXPECT_EQ(parse_event_definition("gap:25,4,0,0", 1000)->text(), "gap:25,4");
  EXPECT_EQ(parse_event_definition("gap:25,4,1us,0", 1000)->text(), "gap:25,4,1000,0");
}

TEST(Gap, LooksAsFarAsTheGap) {
  const auto traits = Gap(25, 4).traits();
  EXPECT_EQ(traits.reach, Tick(25));
  EXPECT_EQ(traits.longest_length, Tick(25));
  EXPECT_EQ(traits.bin_ticks, Tick(25));
  EXPECT_FALSE(traits.needs_numbers);
  EXPECT_TRUE(traits.finds_runs);
}

TEST(Gap, WidenedLooksAsFarAsMHitsReach) {
  const auto traits = parse_event_definition("gap:25,4,30,7", 1000)->traits();
  EXPECT_EQ(traits.reach, Tick(137));
  EXPECT_EQ(traits.longest_length, Tick(30));
  EXPECT_EQ(parse_event_definition("gap:1e18,1e18,1e19,1e19", 1000)->traits().reach, std::numeric_limits<Tick>::max());
}

TEST(Gap, WidensRunsThatAreLongEnough) {
  EXPECT_EQ(found("gap:5,3,10,6", {0, 10, 14, 19, 25, 26, 60}), (std::vector<Times>{{0, 10, 14, 19, 25}}));
  EXPECT_EQ(found("gap:2,2,10,6", {4, 10, 12, 20, 29, 31, 60}), (std::vector<Times>{{4, 10, 12}, {20, 29, 31}}));
  EXPECT_EQ(found("gap:2,2,11,6", {4, 10, 12, 20, 29, 31, 60}), (std::vector<Times>{{4, 10, 12, 20, 29, 31}}));
}

TEST(Gap, FindsRunsThatAreLongEnough) {
  EXPECT_EQ(found("gap:5,3", {10, 14, 19, 30, 31, 40, 45, 50, 55}),
            (std::vector<Times>{{10, 14, 19}, {40, 45, 50, 55}}));
  EXPECT_EQ(found("gap:0,1", {7, 7, 8}), (std::vector<Times>{{7, 7}, {8}}));
  EXPECT_TRUE(found("gap:5,1", {}).empty());
  EXPECT_TRUE(found("gap:5,2", {9}).empty());
}

}  // namespace eventloom::test
