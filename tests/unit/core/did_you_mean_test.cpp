#include "core/runtime/did_you_mean.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>

namespace eventloom {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"n_hits", "duration", "prescale", "csv", "A", "report-json"};

TEST(DidYouMean, FindsTheNameBehindATypingError) {
  EXPECT_EQ(closest("nhits", kNames), "n_hits") << "a character is missing";
  EXPECT_EQ(closest("durration", kNames), "duration") << "one is surplus";
  EXPECT_EQ(closest("prescalo", kNames), "prescale") << "one is wrong";
  EXPECT_EQ(closest("cvs", kNames), "csv") << "two are swapped";
  EXPECT_EQ(closest("N_Hits", kNames), "n_hits") << "case";
  EXPECT_EQ(closest("report", kNames), "report-json") << "the rest is missing";
}

TEST(DidYouMean, GuessesNothingFromAnotherWord) {
  for (const auto* name : {"B", "", "re", "hdf5", "x", "dur8t1xy"}) EXPECT_EQ(closest(name, kNames), "") << name;
  EXPECT_EQ(closest(std::string(1'000'000, 'n'), kNames), "");
  EXPECT_EQ(closest("n_hits", {}), "");
}

TEST(DidYouMean, FewestErrorsWinThenTheFirst) {
  constexpr std::array<std::string_view, 4> kAlike = {"source", "sourcex", "sources", "systems"};
  EXPECT_EQ(closest("sourcess", kAlike), "sources");
  EXPECT_EQ(closest("sourcey", kAlike), "source");
}

TEST(DidYouMean, EndsAMessage) {
  EXPECT_EQ(did_you_mean("cvs", kNames), " (did you mean 'csv'?)");
  EXPECT_EQ(did_you_mean("csv", kNames), "");
  EXPECT_EQ(did_you_mean("hdf5", kNames), "");
}

}  // namespace
}  // namespace eventloom
