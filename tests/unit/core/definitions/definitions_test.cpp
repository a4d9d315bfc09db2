#include "core/definitions/definitions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/runtime/error.hpp"

namespace eventloom::test {

TEST(Definitions, SayWhatIsWrongAndWhatWasExpected) {
  const std::map<std::string, std::vector<const char*>> wrong = {
      {"gap:G,M: a run",
       {"gap", "gap:", "gap:5", "gap:5,0", "gap:5,4,3", "gap:-1,3", "gap:1.5,2", "gap:5ns", "gap:x,2"}},
      {"multiplicity:W,T[,pre,post]: consecutive",
       {"multiplicity:0,3", "multiplicity:10,0", "multiplicity:10", "multiplicity:10,3,1,1,1", "multiplicity:10,3,"}},
      {"tag: hits", {"tag:3", "tag:"}},
      {definition_usage(), {"", "tags", "window:5", ":5,3"}}};
  for (const auto& [expected, texts] : wrong) {
    for (const std::string text : texts) {
      try {
        parse_event_definition(text, 1000);
        ADD_FAILURE() << "'" << text << "' was accepted";
      } catch (const UserError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("'" + text + "'"), std::string::npos) << what;
        EXPECT_NE(what.find("expected " + expected), std::string::npos) << what;
        EXPECT_EQ(what.find('\n'), std::string::npos);
      }
    }
  }
}

TEST(Definitions, AreAllListed) {
  EXPECT_EQ(definition_usage(), "gap:G,M or multiplicity:W,T[,pre,post] or tag");
  const auto help = definition_help();
  EXPECT_EQ(std::ranges::count(help, '\n'), 2);
  EXPECT_EQ(help.find("gap:G,M: a run of hits"), 0U);
}

TEST(Definitions, TextsOfTheSameMeaningAreTheSame) {
  for (const char* text : {"gap:25,4", "multiplicity:100,5,1,2", "tag"}) {
    EXPECT_EQ(parse_event_definition(text, 1000)->text(), text);
  }
}

}  // namespace eventloom::test
