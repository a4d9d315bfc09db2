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

/// No message names an empty text, and a least number of hits is at least 1 in all of them.
TEST(Definitions, NameNothingThatIsEmpty) {
  for (const std::string text :
       {"gap:,2", "gap:2,", "gap:2,1,,3", "multiplicity:2,2,,1", "fixed:", "cluster:,1", "cluster:1,", "cluster:1,1,",
        "cluster:1,1,0", "trigger:,1,1", "coincidence:5,channel:>=1", "coincidence:5,channel:1->=1", "gap:2,0",
        "coincidence:5,channel:1{..}>=1", "coincidence:5,channel:1{1..}>=1", "coincidence:5,causal(,)>=1",
        "coincidence:5,causal(1,)>=1", "coincidence:5,channel:1[,2]>=1"}) {
    try {
      parse_event_definition(text, 1000);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const TextError& error) {
      EXPECT_EQ(std::string(error.what()).find("''"), std::string::npos) << error.what();
    }
  }
}

TEST(Definitions, OfEventNumbersHaveNoUnitsOfTime) {
  RunTicks numbers(1000);
  numbers.numbered = true;
  const auto refusal = [&](const std::string& text) -> std::string {
    try {
      parse_event_definition(text, numbers);
      return "none";
    } catch (const TextError& error) {
      return error.what();
    }
  };
  for (const auto* text :
       {"gap:25ns,2", "gap:25,2,1us,0", "gap:25,2,0,1us", "multiplicity:10ns,3", "coincidence:0.5us,n_hits>=2",
        "coincidence:5,n_hits>=2,1ns,1", "coincidence:5,channel:1[-2ns,3]>=1", "coincidence:5,channel:1[-2,3ms]>=1",
        "coincidence:5,causal(0.3,5)>=1", "coincidence:5,causal(0.7c,5)>=1", "coincidence:5,causal(1m/tick,5ns)>=1",
        "trigger:n_hits>=1,1us,2", "trigger:n_hits>=1,1,2h", "fixed:1ms", "cluster:5ns,1"}) {
    const auto what = refusal(text);
    EXPECT_NE(what.find("the times of this run are event numbers"), std::string::npos) << text << ": " << what;
    EXPECT_EQ(what.find("as in 25ns"), std::string::npos) << what;
  }
  for (const auto* text : {"gap:25,2", "gap:25,2,1,0", "multiplicity:1e3,3", "coincidence:5,channel:1[-2,3]>=1,1,1",
                           "coincidence:5,causal(1m/tick,5)>=1", "trigger:n_hits>=1,1,2", "fixed:7", "cluster:5,1mm"}) {
    EXPECT_EQ(refusal(text), "none") << text;
  }
}

/// While the tick is unknown, an end of a window in ticks may lie on either side of one in a unit.
TEST(Definitions, OfAnUnknownTickCompareOnlyWhatTheyCan) {
  RunTicks unknown(1);
  unknown.known = false;
  const auto accepts = [](const std::string& text, const RunTicks& ticks) {
    try {
      parse_event_definition(text, ticks);
      return true;
    } catch (const TextError&) {
      return false;
    }
  };
  const auto in_window = [](const std::string& window) { return "coincidence:50,channel:1[" + window + "]>=1"; };
  for (const auto* window : {"-25,-2.4ns", "0.1ns,25", "2.4ns,25", "1,2.5ns", "-1us,-1", "5ns,-5", "-5,5ns"})
    EXPECT_TRUE(accepts(in_window(window), unknown)) << window;
  for (const auto* window : {"25,-25", "2ns,1ns", "5us,-1ns", "-1,-2", "1.5,2ns"})
    EXPECT_FALSE(accepts(in_window(window), unknown)) << window;
  EXPECT_TRUE(accepts(in_window("-25,-2.4ns"), 100));
  EXPECT_FALSE(accepts(in_window("-23,-2.4ns"), 100)) << "from -23 to -24 ticks";
  EXPECT_EQ(parse_event_definition(in_window("-25,-2.4ns"), 100)->text(), "coincidence:50,channel:0x1-0x1[-25,-24]>=1");
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
