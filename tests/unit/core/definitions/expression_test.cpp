#include "core/definitions/expression.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/definitions/text_mistake.hpp"
#include "core/detector/detector_map.hpp"

namespace eventloom::test {

namespace {

Detector with_groups() {
  Detector detector(2);
  for (const char* name : {"A", "veto", "B"}) detector.add_group(name);
  return detector;
}

Expression parsed(std::string_view text, ExpressionUse use = ExpressionUse::filter) {
  return parse_expression(text, 1000, with_groups(), use);
}

/// Whether the expression holds if its terms, by number, have these truth values.
bool holds(std::string_view text, const std::vector<bool>& terms) {
  return parsed(text).holds([&](std::size_t term) { return terms.at(term); });
}

/// The text and the marks below it, without their indentation.
std::string mistake_in(const std::string& text, ExpressionUse use = ExpressionUse::filter) {
  try {
    parsed(text, use);
  } catch (const TextMistake& mistake) {
    const auto lines = marked(text, mistake.where());
    const auto end = lines.find('\n');
    EXPECT_EQ(lines.substr(0, end), "  " + text);
    EXPECT_EQ(std::string(mistake.what()).find('\n'), std::string::npos);
    return lines.substr(end + 3) + " " + mistake.what();
  }
  ADD_FAILURE() << "'" << text << "' was accepted";
  return "";
}

/// The position of the mistake: the columns of its marks.
std::string marks_in(const std::string& text, ExpressionUse use = ExpressionUse::filter) {
  const auto mistake = mistake_in(text, use);
  return mistake.substr(0, mistake.find_first_not_of(" ^", mistake.find('^')) - 1);
}

}  // namespace

TEST(Expression, AndBindsCloserThanOrAndNotCloserThanBoth) {
  const auto* text = "n_hits>1 || n_hits>2 && n_hits>3";
  EXPECT_TRUE(holds(text, {true, false, false}));
  EXPECT_TRUE(holds(text, {false, true, true}));
  EXPECT_FALSE(holds(text, {false, true, false}));
  EXPECT_FALSE(holds("(n_hits>1 || n_hits>2) && n_hits>3", {true, false, false}));
  EXPECT_TRUE(holds("!n_hits>1 && n_hits>2", {false, true}));
  EXPECT_FALSE(holds("!(n_hits>1 && n_hits>2)", {true, true}));
  EXPECT_TRUE(holds("!!n_hits>1", {true}));
  EXPECT_TRUE(holds("n_hits>1&&n_hits>2&&n_hits>3", {true, true, true}));
  EXPECT_FALSE(holds("n_hits>1&&n_hits>2&&n_hits>3", {true, true, false}));
}

TEST(Expression, AsksNoMoreTermsThanItNeeds) {
  std::vector<std::size_t> asked;
  const auto expression = parsed("n_hits>1 && causal(0.3,20ns)>=4 || A>=1 || B>=1");
  const auto answer = [&](std::size_t term) {
    asked.push_back(term);
    return term == 2;
  };
  EXPECT_TRUE(expression.holds(answer));
  EXPECT_EQ(asked, (std::vector<std::size_t>{0, 2}));
}

TEST(Expression, ComparisonsHoldAsTheyRead) {
  const auto values_of = [](const std::string& comparison) {
    const auto expression = parsed("n_hits" + comparison);
    std::string held;
    for (std::uint64_t n = 0; n < 6; ++n) held += expression.terms().front().holds(n) ? std::to_string(n) : "";
    return held;
  };
  EXPECT_EQ(values_of("==3"), "3");
  EXPECT_EQ(values_of("=3"), "3");
  EXPECT_EQ(values_of("!=3"), "01245");
  EXPECT_EQ(values_of("<3"), "012");
  EXPECT_EQ(values_of("<=3"), "0123");
  EXPECT_EQ(values_of(">3"), "45");
  EXPECT_EQ(values_of(">=3"), "345");
  EXPECT_EQ(values_of("<0"), "");
  EXPECT_EQ(values_of(">=0"), "012345");
  EXPECT_EQ(values_of(">9999999999999999999"), "");
}

TEST(Expression, MeaningIsTheSameForTextsOfEqualMeaning) {
  EXPECT_EQ(parsed(" n_hits >= 8 ||( A=1 && duration < 0.5us ) ").meaning(), "n_hits>=8||A==1&&duration<500");
  EXPECT_EQ(parsed("( n_hits>=8 || A=1 ) && (B>=1 || B<3)").meaning(), "(n_hits>=8||A==1)&&(B>=1||B<3)");
  EXPECT_EQ(parsed("((n_hits>=8)) && !channel:16-0x20>=1e1").meaning(), "n_hits>=8&&!(channel:0x10-0x20>=10)");
  EXPECT_EQ(parsed("source : 3 >= 1").meaning(), "source:3-3>=1");
  EXPECT_EQ(parsed("causal(0.3m/ns, 20ns) >= 4").meaning(), parsed("causal(0.3,20)>=4").meaning());
  EXPECT_EQ(parsed("causal(300m/us,20)>=4").meaning(), parsed("causal(30cm/ns,20)>=4").meaning());
  EXPECT_NE(parsed("causal(0.3,20)>=4").meaning(), parsed("causal(0.4,20)>=4").meaning());
  const auto again = parsed("(n_hits>=8||A==1)&&duration<500").meaning();
  EXPECT_EQ(parsed(again).meaning(), again);
}

TEST(Expression, SpeedsAreMetresPerTick) {
  EXPECT_DOUBLE_EQ(parsed("causal(0.25,0)>=1").terms().front().quantity.speed, 0.25);
  EXPECT_DOUBLE_EQ(parsed("causal(1c,0)>=1").terms().front().quantity.speed, 0.299792458);
  EXPECT_DOUBLE_EQ(parse_expression("causal(2e8m/s,1ns)>=1", 100, Detector()).terms().front().quantity.speed, 0.02);
  EXPECT_EQ(parse_expression("causal(2e8m/s,1ns)>=1", 100, Detector()).terms().front().quantity.slack, Tick(10));
}

TEST(Expression, SelectsHitsByValueAndTime) {
  EXPECT_EQ(parsed("A{505..517} >= 1").meaning(), "A{505..517}>=1");
  EXPECT_EQ(parsed("A { -3.50 .. 1e3 } >= 1").meaning(), "A{-3.5..1000}>=1");
  EXPECT_EQ(parsed("A[-50ns, 0.12us]{1..2}>=1").meaning(), "A{1..2}[-50,120]>=1");
  EXPECT_EQ(parsed("channel:3-4[-7,-5]==0").meaning(), "channel:0x3-0x4[-7,-5]==0");
  EXPECT_EQ(parsed("source:3{0..0}<2").meaning(), "source:3-3{0..0}<2");
  EXPECT_EQ(parsed("sum( A )>=-1e3").meaning(), "sum(A)>=-1000");
  EXPECT_EQ(parsed("max(A{1..2})=2.5").meaning(), "max(A{1..2})==2.5");
  EXPECT_EQ(parsed("channels(source:0-3[0,10ns])>=3").meaning(), "channels(source:0-3[0,10])>=3");
  EXPECT_EQ(parsed("!order(A, B[-1us,+2])").meaning(), "!(order(A,B[-1000,2]))");
  for (const char* text : {"A{1..2}[-50,120]>=1", "!(order(A,B[-1000,2]))", "max(A{1..2})==2.5"})
    EXPECT_EQ(parsed(text).meaning(), text);
}

TEST(Expression, KnowsWhatItNeeds) {
  const auto windows = parsed("A[-50,120]>=1 && order(B[30,40],A[-70,-60]) || n_hits>2").windows();
  EXPECT_EQ(windows, (OwnWindow{-70, 120}));
  EXPECT_EQ(parsed("A[30,40]>=1").windows(), (OwnWindow{0, 40}));
  EXPECT_EQ(parsed("A>=1").windows(), OwnWindow{});
  EXPECT_FALSE(parsed("A[0,3]>=1 && channels(A)>=2 && order(A,B)").uses_values());
  EXPECT_EQ(parsed("A>=1 || max(B)<3").term_with_values()->text, "max(B)<3");
  EXPECT_TRUE(parsed("A{1..2}>=1").uses_values());
  EXPECT_TRUE(parsed("order(A,B{1..2})").uses_values());
  EXPECT_FALSE(parsed("n_hits>=1").uses_detector());
  EXPECT_TRUE(parsed("n_hits>=1 && sum(source:0)>=1").uses_detector());
}

TEST(Expression, RealNumbersCompareInTheirOrder) {
  const std::vector<double> rising = {-1e300, -2.5, -1e-300, 0, 1e-300, 1, 2.5, 1e300};
  for (std::size_t i = 1; i < rising.size(); ++i) EXPECT_LT(real_key(rising[i - 1]), real_key(rising[i]));
  for (const double number : rising) EXPECT_EQ(real_of(real_key(number)), number);
  EXPECT_EQ(real_key(-0.0), real_key(0.0));
  const auto holds_for = [](const char* text, double value) {
    return parsed(text).terms().front().holds(real_key(value));
  };
  EXPECT_TRUE(holds_for("sum(A)>=-2.5", -2.5));
  EXPECT_FALSE(holds_for("sum(A)>-2.5", -2.5));
  EXPECT_FALSE(holds_for("sum(A)<-2.5", -2.5));
  EXPECT_TRUE(holds_for("sum(A)<-2.5", -2.6));
  EXPECT_TRUE(holds_for("sum(A)<=0", -0.0));
  EXPECT_TRUE(holds_for("sum(A)!=0.1", 0.2));
}

TEST(Expression, MistakesAreMarked) {
  EXPECT_EQ(marks_in("n_hit>=3"), "^^^^^");
  EXPECT_EQ(marks_in("A>=1 && C>=1"), "        ^");
  EXPECT_EQ(marks_in("n_hits"), "      ^");
  EXPECT_EQ(marks_in("n_hits>="), "        ^");
  EXPECT_EQ(marks_in("n_hits>=-1"), "        ^");
  EXPECT_EQ(marks_in("n_hits=>3"), "       ^");
  EXPECT_EQ(marks_in("n_hits>=x"), "        ^");
  EXPECT_EQ(marks_in("n_hits>=3 & A>=1"), "          ^");
  EXPECT_EQ(marks_in("n_hits>=3 and A>=1"), "          ^^^");
  EXPECT_EQ(marks_in("(n_hits>=3"), "^");
  EXPECT_EQ(marks_in("n_hits>=3)"), "         ^");
  EXPECT_EQ(marks_in("n_hits>=3 &&"), "            ^");
  EXPECT_EQ(marks_in("duration<5xs"), "         ^^^");
  EXPECT_EQ(marks_in("channel>=1"), "       ^");
  EXPECT_EQ(marks_in("channel:0x13-0x12>=1"), "        ^^^^^^^^^");
  EXPECT_EQ(marks_in("channel:1-2-3>=1"), "           ^");
  EXPECT_EQ(marks_in("source:65536>=1"), "       ^^^^^");
  EXPECT_EQ(marks_in("prescale>=3"), "        ^");
  EXPECT_EQ(marks_in("prescale=0"), "         ^");
  EXPECT_EQ(marks_in("causal>=4"), "      ^");
  EXPECT_EQ(marks_in("causal(0.3)>=4"), "          ^");
  EXPECT_EQ(marks_in("causal(fast,20ns)>=4"), "       ^^^^");
  EXPECT_EQ(marks_in("causal(0,20ns)>=4"), "       ^");
  EXPECT_EQ(marks_in("causal(0.3,20xs)>=4"), "           ^^^^");
  EXPECT_EQ(marks_in("A{5..3}>=1"), "  ^^^^");
  EXPECT_EQ(marks_in("A{5}>=1"), "  ^");
  EXPECT_EQ(marks_in("A{}>=1"), "  ^");
  EXPECT_EQ(marks_in("A{1..nan}>=1"), "     ^^^");
  EXPECT_EQ(marks_in("A{inf..1}>=1"), "  ^^^");
  EXPECT_EQ(marks_in("A{1..2>=1"), " ^");
  EXPECT_EQ(marks_in("A{1..2}{1..2}>=1"), "       ^");
  EXPECT_EQ(marks_in("A[5,3]>=1"), "  ^^^");
  EXPECT_EQ(marks_in("A[5]>=1"), "   ^");
  EXPECT_EQ(marks_in("A[0,1e30]>=1"), "    ^^^^");
  EXPECT_EQ(marks_in("A[-5xs,3]>=1"), "  ^^^^");
  EXPECT_EQ(marks_in("n_hits{1..2}>=1"), "      ^");
  EXPECT_EQ(marks_in("sum(C)>=1"), "    ^");
  EXPECT_EQ(marks_in("sum(duration)>=1"), "    ^^^^^^^^");
  EXPECT_EQ(marks_in("sum>=1"), "   ^");
  EXPECT_EQ(marks_in("max(A>=1"), "     ^");
  EXPECT_EQ(marks_in("max(A)>=one"), "        ^^^");
  EXPECT_EQ(marks_in("max(A)"), "      ^");
  EXPECT_EQ(marks_in("channels(A)>=1.5"), "             ^^^");
  EXPECT_EQ(marks_in("order(A)"), "       ^");
  EXPECT_EQ(marks_in("order(A,B)>=1"), "          ^");
  EXPECT_EQ(marks_in("3<=n_hits"), "^");
  EXPECT_EQ(marks_in(""), "^");
}

TEST(Expression, MarksCountCharacters) {
  EXPECT_EQ(marks_in("A>=1 && grün>=1"), "        ^^^^");
  EXPECT_EQ(marks_in("grün>=1 && A>="), "^^^^");
}

TEST(Expression, LongTextsAreCutAroundTheMistake) {
  const std::string text = std::string(1000, ' ') + "n_hit>=3" + std::string(1000, ' ');
  try {
    parsed(text);
    ADD_FAILURE();
  } catch (const TextMistake& mistake) {
    const auto lines = marked(text, mistake.where());
    const auto end = lines.find('\n');
    EXPECT_LT(end, 120U);
    EXPECT_EQ(lines.substr(lines.find('^') - end - 1, 5), "n_hit");
    EXPECT_EQ(lines.substr(lines.find('^')), "^^^^^");
  }
}

TEST(Expression, MessagesGuessWhatWasMeant) {
  EXPECT_NE(mistake_in("nhits>=3").find("did you mean 'n_hits'?"), std::string::npos);
  EXPECT_NE(mistake_in("vetto>=3").find("did you mean 'veto'?"), std::string::npos);
  EXPECT_NE(mistake_in("C>=3").find("groups: A, veto, B"), std::string::npos);
  EXPECT_NE(mistake_in("n_hits>=3 & A>=1").find("write && for '&'"), std::string::npos);
}

TEST(Expression, ConditionsHaveNoPropertiesOfEvents) {
  for (const char* text : {"prescale=2", "duration<3", "trigger==1"}) {
    EXPECT_EQ(marks_in(text, ExpressionUse::condition).find('^'), 0U) << text;
    EXPECT_NO_THROW(parsed(text)) << text;
  }
  EXPECT_NO_THROW(parsed("A>=1 && causal(0.3,20ns)>=2 || !sources<3", ExpressionUse::condition));
}

TEST(Expression, DeepAndLongTextsAreRefusedOrRead) {
  EXPECT_THROW(parsed(std::string(100'000, '(')), TextMistake);
  EXPECT_THROW(parsed(std::string(100'000, '!') + "A>=1"), TextMistake);
  std::string many = "A>=1";
  for (int i = 0; i < 500; ++i) many += "&&A>=1";
  EXPECT_TRUE(parsed(many).holds([](std::size_t) { return true; }));
  for (int i = 0; i < 1000; ++i) many += "&&A>=1";
  EXPECT_THROW(parsed(many), TextMistake);
}

TEST(Expression, QuantitiesCannotBeNamesOfGroups) {
  for (const char* name : {"n_hits", "duration", "systems", "sources", "channel", "source", "trigger", "prescale",
                           "causal", "channels", "sum", "max", "order"})
    EXPECT_THROW(parse_group_option(std::string(name) + "=source:0"), std::exception) << name;
  EXPECT_NO_THROW(parse_group_option("A=source:0"));
}

}  // namespace eventloom::test
