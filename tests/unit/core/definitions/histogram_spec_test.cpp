#include "core/definitions/histogram_spec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "core/definitions/text_mistake.hpp"

namespace eventloom {
namespace {

Detector two_groups() {
  Detector detector;
  detector.add_group("A");
  detector.add_group("B");
  return detector;
}

HistogramSpec parsed_histogram(std::string_view text, bool numbered = false) {
  RunTicks ticks(1000);
  ticks.numbered = numbered;
  return parse_histogram(text, ticks, two_groups());
}

/// Tests numbers at the edges, next to them and between them: the bin is the one whose edges enclose the number.
TEST(HistogramAxis, BinsAreWhatTheirEdgesSay) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial < 300; ++trial) {
    HistogramAxis axis;
    const double low = std::uniform_real_distribution<>(-1000, 1000)(random);
    const double width = std::uniform_real_distribution<>(0.001, 3000)(random);
    axis.set_range(low, low + width, std::uniform_int_distribution<std::uint32_t>(1, 3000)(random));
    const auto edges = axis.edges();
    ASSERT_EQ(edges.size(), axis.bins + 1U);
    EXPECT_EQ(edges.front(), axis.low);
    EXPECT_EQ(edges.back(), axis.high);
    for (std::uint32_t bin = 0; bin < axis.bins; ++bin) {
      ASSERT_EQ(axis.bin_of(edges[bin]), bin);
      ASSERT_EQ(axis.bin_of(std::nextafter(edges[bin + 1], axis.low)), bin);
      ASSERT_EQ(axis.bin_of((edges[bin] + edges[bin + 1]) / 2), bin);
    }
    EXPECT_EQ(axis.bin_of(std::nextafter(axis.low, -HUGE_VAL)), -1);
    EXPECT_EQ(axis.bin_of(axis.high), axis.bins);
    EXPECT_EQ(axis.bin_of(std::numeric_limits<double>::infinity()), axis.bins);
  }
}

/// Of each axis that is accepted, all bins have a width, and every number has its bin.
TEST(HistogramAxis, RangesThatNumbersCannotDivideAreRefused) {
  for (const auto* range : {"-1e308..1e308/10", "1e16..10000000000000010/1000", "0..1e-320/10", "0..1.8e308/2",
                            "9007199254740992..9007199254740999/8", "1e300..1.0000000000000002e300/3"}) {
    EXPECT_THROW(parsed_histogram(std::string("x=n_hits:") + range), TextMistake) << range;
  }
  EXPECT_THROW(parsed_histogram("x=duration:0..1e300h/10"), TextMistake);
  for (const auto* range : {"0..1e-300/10", "-1e307..1e307/1000", "1e15..1000000000000100/100", "0..5/16777216"}) {
    const auto axis = parsed_histogram(std::string("x=n_hits:") + range).axes.at(0);
    for (std::uint32_t bin = 0; bin < axis.bins; bin += std::max(axis.bins / 1000, 1U)) {
      ASSERT_LT(axis.edge(bin), axis.edge(bin + 1)) << range << ", " << bin;
      ASSERT_EQ(axis.bin_of(axis.edge(bin)), bin) << range;
    }
  }
}

TEST(HistogramSpec, TimesAreInNanosecondsOrInTheUnitOfTheLowEnd) {
  const auto axis = [](std::string_view text) { return parsed_histogram(text).axes.at(0); };
  EXPECT_EQ(axis("x=duration:0..5/5").unit, "ns");
  EXPECT_EQ(axis("x=duration:0..5us/5").high, 5000);
  EXPECT_EQ(axis("x=duration:0us..5us/5").high, 5);
  EXPECT_EQ(axis("x=duration:0us..5us/5").unit, "us");
  EXPECT_EQ(axis("x=dt(A,B):-1us..500ns/5").high, 0.5);
  EXPECT_EQ(axis("x=n_hits:0..5/5").unit, "");
  const auto numbered = parsed_histogram("x=duration:0..5/5", true).axes.at(0);
  EXPECT_EQ(numbered.unit_ps, 0U);
  EXPECT_EQ(numbered.unit, "");
}

TEST(HistogramSpec, HitsOfTheAxes) {
  const auto places = [](std::string_view text) {
    const auto spec = parsed_histogram(text);
    std::vector<std::size_t> all{spec.hits.size()};
    for (const auto& axis : spec.axes) all.push_back(axis.hit);
    return all;
  };
  using Places = std::vector<std::size_t>;
  EXPECT_EQ(places("x=n_hits:0..1/1;time:0..1/1"), (Places{0, 0, 0}));
  EXPECT_EQ(places("x=value(A):0..1/1;value(B):0..1/1"), (Places{2, 0, 1}));
  EXPECT_EQ(places("x=value(A):0..1/1;value(A):0..1/1"), (Places{2, 0, 1}));
  EXPECT_EQ(places("x=dt(A,B):0..1/1;value(B):0..1/1"), (Places{2, 0, 1}));
  EXPECT_EQ(places("x=value(B):0..1/1;dt(A,B):0..1/1"), (Places{2, 1, 0}));
  EXPECT_EQ(places("x=channel:0..1/1;value(B):0..1/1"), (Places{1, 0, 0}));
  EXPECT_EQ(places("x=value(B):0..1/1;channel:0..1/1"), (Places{1, 0, 0}));
  EXPECT_EQ(places("x=channel:0..1/1;channel:0..1/1"), (Places{2, 0, 1}));
  EXPECT_EQ(places("x=channel:0..1/1;channel:0..1/1@hits"), (Places{1, 0, 0}));
}

TEST(HistogramSpec, BlanksDoNotMatter) {
  const auto spec =
      parsed_histogram(" x = value(A{1..5}) : -1.5 .. 2e3 / 7 ; channel:0..9/3 if A>=1 && n_hits<5 @hits ");
  EXPECT_EQ(spec.name, "x");
  EXPECT_TRUE(spec.of_all_hits);
  EXPECT_EQ(spec.quantity(), "value(A{1..5});channel");
  EXPECT_EQ(spec.axes.at(0).low, -1.5);
  EXPECT_EQ(spec.axes.at(0).high, 2000);
  EXPECT_EQ(spec.bins(), 21U);
  EXPECT_EQ(spec.condition.value().text(), "A>=1 && n_hits<5");
}

}  // namespace
}  // namespace eventloom
