#include "core/definitions/gap.hpp"

#include <gtest/gtest.h>

#include "found_events.hpp"

namespace eventloom::test {

TEST(Gap, IsParsedInTicksAndWithUnit) {
  EXPECT_EQ(parse_event_definition("gap:25,4", 1000)->text(), "gap:25,4");
  EXPECT_EQ(parse_event_definition("gap:25ns,4", 500)->text(), "gap:50,4");
  EXPECT_EQ(parse_event_definition(" gap : 0 , 1 ", 1000)->text(), "gap:0,1");
}

TEST(Gap, LooksAsFarAsTheGap) {
  const auto traits = Gap(25, 4).traits();
  EXPECT_EQ(traits.reach, 25U);
  EXPECT_EQ(traits.longest_length, 25U);
  EXPECT_EQ(traits.bin_ticks, 25U);
  EXPECT_FALSE(traits.needs_numbers);
  EXPECT_TRUE(traits.finds_runs);
}

TEST(Gap, FindsRunsThatAreLongEnough) {
  EXPECT_EQ(found("gap:5,3", {10, 14, 19, 30, 31, 40, 45, 50, 55}),
            (std::vector<Times>{{10, 14, 19}, {40, 45, 50, 55}}));
  EXPECT_EQ(found("gap:0,1", {7, 7, 8}), (std::vector<Times>{{7, 7}, {8}}));
  EXPECT_TRUE(found("gap:5,1", {}).empty());
  EXPECT_TRUE(found("gap:5,2", {9}).empty());
}

}  // namespace eventloom::test
