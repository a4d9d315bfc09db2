#include "core/definitions/multiplicity.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "found_events.hpp"

namespace eventloom::test {

namespace {

DefinitionTraits traits_of(const std::string& text) { return parse_event_definition(text, 1000)->traits(); }

}  // namespace

TEST(Multiplicity, IsParsedWithAndWithoutWidening) {
  EXPECT_EQ(parse_event_definition("multiplicity:100,5,1,2", 1000)->text(), "multiplicity:100,5,1,2");
  EXPECT_EQ(parse_event_definition("multiplicity:1us,3", 1000)->text(), "multiplicity:1000,3,0,0");
}

TEST(Multiplicity, LooksAroundAsFarAsItWidens) {
  const auto traits = traits_of("multiplicity:100,5,1,3");
  EXPECT_EQ(traits.reach, Tick(600));
  EXPECT_EQ(traits.longest_length, Tick(300));
  EXPECT_EQ(traits.bin_ticks, Tick(100));
  EXPECT_EQ(traits_of("multiplicity:100,5").longest_length, Tick(100));
}

TEST(Multiplicity, LengthsThatDoNotFitAreTheLargest) {
  constexpr auto kMax = std::numeric_limits<Tick>::max();
  EXPECT_EQ(traits_of("multiplicity:1,1,9e18,9e18").reach, Tick(18'000'000'000'000'000'002U));
  EXPECT_EQ(traits_of("multiplicity:1,1,1e19,1e19").reach, kMax);
  EXPECT_EQ(traits_of("multiplicity:9e18,1,1,0").reach, kMax);
  EXPECT_EQ(traits_of("multiplicity:9e18,1,0,3").longest_length, kMax);
}

TEST(Multiplicity, FindsBinsWithEnoughHitsAndTheirNeighbours) {
  // Bins 2 (20 21 29) and 3 (30 31 39) are hot; 19 and 40 lie in the bins next to them.
  const Times times = {19, 20, 21, 29, 30, 31, 39, 40};
  EXPECT_EQ(found("multiplicity:10,3", times), (std::vector<Times>{{20, 21, 29, 30, 31, 39}}));
  EXPECT_EQ(found("multiplicity:10,3,1,1", times), (std::vector<Times>{times}));
  EXPECT_TRUE(found("multiplicity:10,9", times).empty());
}

TEST(Multiplicity, WidenedIntervalsThatTouchAreOneEvent) {
  // Hot bins 1 and 4 with pre = post = 1: [0, 2] and [3, 5] touch. With hot bins 1 and 5 they do not.
  EXPECT_EQ(found("multiplicity:10,2,1,1", {10, 11, 40, 41}).size(), 1U);
  EXPECT_EQ(found("multiplicity:10,2,1,1", {10, 11, 50, 51}).size(), 2U);
}

TEST(Multiplicity, BinsCountFromTickZeroOfTheRun) {
  // Ticks counted from tick 7: bin 1 ends at 13 of these ticks.
  EXPECT_EQ(found("multiplicity:10,2", {11, 12, 13}, 7), (std::vector<Times>{{11, 12}}));
  EXPECT_TRUE(found("multiplicity:10,2", {12, 13}, 7).empty());
}

}  // namespace eventloom::test
