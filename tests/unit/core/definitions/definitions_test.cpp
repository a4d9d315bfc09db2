#include "core/definitions/definitions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/runtime/text_error.hpp"

namespace eventloom::test {

TEST(Definitions, SayWhatIsWrongAndWhatWasExpected) {
  const std::map<std::string, std::vector<const char*>> wrong = {
      {"gap:G,M[,pre,post]: a run",
       {"gap", "gap:", "gap:5", "gap:5,0", "gap:5,4,3", "gap:5,4,3,2,1", "gap:5,4,", "gap:5,4,x", "gap:5,4,3,-1",
        "gap:-1,3", "gap:1.5,2", "gap:5ns", "gap:x,2"}},
      {"multiplicity:W,T[,pre,post]: consecutive",
       {"multiplicity:0,3", "multiplicity:10,0", "multiplicity:10", "multiplicity:10,3,1,1,1", "multiplicity:10,3,"}},
      {"coincidence:W,COND[,pre,post]: hits",
       {"coincidence", "coincidence:", "coincidence:5", "coincidence:5,", "coincidence:x,n_hits>=2",
        "coincidence:5,n_hits", "coincidence:5,n_hits>=2,x", "coincidence:5,n_hits>=2,1",
        "coincidence:5,n_hits>=2,1,2,3", "coincidence:5,A>=1", "coincidence:5,prescale=2", "coincidence:5,duration<3",
        "coincidence:5,n_hits>=2 || trigger==1"}},
      {"tag: hits", {"tag:3", "tag:"}},
      {definition_usage(), {"", "tags", "window:5", ":5,3"}}};
  for (const auto& [expected, texts] : wrong) {
    for (const std::string text : texts) {
      try {
        parse_event_definition(text, 1000);
        ADD_FAILURE() << "'" << text << "' was accepted";
      } catch (const TextError& error) {
        const std::string what = error.what();
        EXPECT_NE(what.find("'" + text + "'"), std::string::npos) << what;
        EXPECT_NE(what.find("expected " + expected), std::string::npos) << what;
        EXPECT_EQ(what.find('\n'), std::string::npos);
        EXPECT_EQ(error.excerpt().substr(0, text.size() + 3), "  " + text + "\n");
      }
    }
  }
}

TEST(Definitions, MarkTheMistake) {
  const std::map<std::string, std::string> marks = {
      {"gpa:5,2", "^^^"},          {"gap:5", "     ^"},
      {"gap: 5xs ,2", "     ^^^"}, {"gap:5,0", "      ^"},
      {"gap:5,2,7", "         ^"}, {"gap:5,2,0,0,7", "            ^"},
      {"tag:3", "    ^"},          {"coincidence:5,n_hits>=2 && n_hit<7,1,2", "                           ^^^^^"}};
  for (const auto& [text, expected] : marks) {
    try {
      parse_event_definition(text, 1000);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const TextError& error) {
      EXPECT_EQ(error.excerpt(), "  " + text + "\n  " + expected);
    }
  }
}

TEST(Definitions, AreAllListed) {
  EXPECT_EQ(definition_usage(),
            "gap:G,M[,pre,post] or multiplicity:W,T[,pre,post] or coincidence:W,COND[,pre,post] or "
            "trigger:COND,pre,post or fixed:L or cluster:DT,DR[,M] or tag");
  const auto help = definition_help();
  EXPECT_EQ(std::ranges::count(help, '\n'), 6);
  EXPECT_EQ(help.find("gap:G,M[,pre,post]: a run of hits"), 0U);
}

TEST(Definitions, TextsOfTheSameMeaningAreTheSame) {
  for (const char* text :
       {"gap:25,4", "gap:25,4,3,0", "multiplicity:100,5,1,2", "coincidence:50,n_hits>=2&&sources>=2,0,7", "tag"}) {
    EXPECT_EQ(parse_event_definition(text, 1000)->text(), text);
  }
}

}  // namespace eventloom::test
