#include "core/definitions/tag.hpp"

#include <gtest/gtest.h>

#include "found_events.hpp"

namespace eventloom::test {

TEST(Tag, NeedsNumbersAndLooksAtEqualTimesOnly) {
  const auto tag = parse_event_definition(" tag ", 1000);
  EXPECT_EQ(tag->text(), "tag");
  EXPECT_TRUE(tag->traits().needs_numbers);
  EXPECT_EQ(tag->traits().reach, Tick(0));
  EXPECT_EQ(tag->traits().longest_length, Tick(0));
}

TEST(Tag, HitsOfEqualTimeAreOneEvent) {
  EXPECT_EQ(found("tag", {7, 7, 8, 10, 10}), (std::vector<Times>{{7, 7}, {8}, {10, 10}}));
}

}  // namespace eventloom::test
