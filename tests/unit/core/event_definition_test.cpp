#include "core/dataflow/event_definition.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "core/runtime/error.hpp"

namespace eventloom::test {

TEST(EventDefinition, GapInTicksAndWithUnit) {
  const auto plain = std::get<GapDefinition>(parse_event_definition("gap:25,4", 1000));
  EXPECT_EQ(plain.gap, 25U);
  EXPECT_EQ(plain.min_hits, 4U);
  EXPECT_EQ(std::get<GapDefinition>(parse_event_definition("gap:25ns,4", 500)).gap, 50U);
  EXPECT_EQ(std::get<GapDefinition>(parse_event_definition(" gap : 0 , 1 ", 1000)).gap, 0U);
}

TEST(EventDefinition, MultiplicityWithAndWithoutWidening) {
  const auto full = std::get<MultiplicityDefinition>(parse_event_definition("multiplicity:100,5,1,2", 1000));
  EXPECT_EQ(full.width, 100U);
  EXPECT_EQ(full.threshold, 5U);
  EXPECT_EQ(full.pre, 1U);
  EXPECT_EQ(full.post, 2U);
  const auto bare = std::get<MultiplicityDefinition>(parse_event_definition("multiplicity:1us,3", 1000));
  EXPECT_EQ(bare.width, 1000U);
  EXPECT_EQ(bare.pre, 0U);
  EXPECT_EQ(bare.post, 0U);
}

TEST(EventDefinition, Tag) { EXPECT_TRUE(std::holds_alternative<TagDefinition>(parse_event_definition("tag", 1000))); }

TEST(EventDefinition, SaysWhatIsWrongAndWhatWasExpected) {
  for (const char* text : {"", "gap", "gap:", "gap:5", "gap:5,0", "gap:5,4,3", "gap:-1,3", "gap:1.5,2", "gap:5ns",
                           "gap:x,2", "multiplicity:0,3", "multiplicity:10,0", "multiplicity:10",
                           "multiplicity:10,3,1,1,1", "multiplicity:10,3,", "tag:3", "tags", "window:5"}) {
    try {
      parse_event_definition(text, 1000);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const UserError& error) {
      const std::string what = error.what();
      EXPECT_NE(what.find(std::string("'") + text + "'"), std::string::npos) << what;
      EXPECT_NE(what.find("gap:G,M"), std::string::npos) << what;
      EXPECT_EQ(what.find('\n'), std::string::npos);
    }
  }
}

TEST(EventDefinition, ReachIsWhatTheDefinitionLooksAround) {
  EXPECT_EQ(reach_of(GapDefinition{25, 4}), 25U);
  EXPECT_EQ(reach_of(MultiplicityDefinition{100, 5, 1, 2}), 500U);
  EXPECT_EQ(reach_of(TagDefinition{}), 0U);
  constexpr auto kMax = std::numeric_limits<Tick>::max();
  EXPECT_EQ(reach_of(MultiplicityDefinition{1, 1, kMax, 0}), kMax);
  EXPECT_EQ(reach_of(MultiplicityDefinition{kMax / 2, 1, 1, 0}), kMax);
}

}  // namespace eventloom::test
