#include "core/detector/channel_use.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/detector/resolve_detector.hpp"

namespace eventloom {
namespace {

using Numbers = std::vector<std::size_t>;
using ChannelList = std::vector<std::uint32_t>;

Detector detector_of(const std::string& text, std::size_t n_sources) {
  DetectorSources sources;
  for (std::size_t s = 0; s < n_sources; ++s) sources.names.push_back("s" + std::to_string(s));
  return resolve_detector(parse_detector_map(text, "map.csv"), {}, sources);
}

TEST(ChannelUse, KnowsWhichRowsHadHits) {
  const auto detector = detector_of("source,channel,group\n0,1-5,A\n,3,B\n1,,C\n0,7,D\n", 2);
  ChannelUse use(detector);
  EXPECT_EQ(use.unused_selections(), (Numbers{0, 1, 2, 3}));
  use.see(0, ChannelList{0, 6, 8, 4});
  EXPECT_EQ(use.unused_selections(), (Numbers{1, 2, 3}));
  use.see(1, ChannelList{99});
  EXPECT_EQ(use.unused_selections(), (Numbers{1, 3}));
  use.see(0, ChannelList{3, 3, 3});
  EXPECT_EQ(use.unused_selections(), (Numbers{3}));
}

TEST(ChannelUse, GroupsAreThoseOfTheLastRow) {
  const auto detector = detector_of("channel,group\n1-9,A\n5,B\n", 1);
  ChannelUse use(detector);
  use.see(0, ChannelList{5});
  EXPECT_EQ(use.used_groups(), GroupSet{2}) << "channel 5 is in B alone";
  EXPECT_EQ(use.unused_selections(), Numbers{});
  use.see(0, ChannelList{9});
  EXPECT_EQ(use.used_groups(), GroupSet{3});
}

TEST(ChannelUse, WithoutSelectionsNothingIsSearchedFor) {
  const Detector detector(3);
  ChannelUse use(detector);
  use.see(2, ChannelList{1, 2, 3});
  EXPECT_TRUE(use.bits().empty());
  EXPECT_TRUE(use.unused_selections().empty());
}

TEST(ChannelUse, AddsUpWhatOthersHaveSeen) {
  const auto detector = detector_of("source,channel,mask\n0,1,0\n0,2,0\n1,1,0\n", 2);
  ChannelUse one(detector);
  ChannelUse other(detector);
  one.see(0, ChannelList{1});
  other.see(std::vector<std::uint16_t>{1, 1, 0}, ChannelList{1, 2, 9});
  one.add(other.bits());
  EXPECT_EQ(one.unused_selections(), (Numbers{1}));
  one.see(0, ChannelList{2});
  EXPECT_EQ(one.unused_selections(), Numbers{});
}

/// Compares with sets of all channels seen.
TEST(ChannelUse, RandomRowsAndHits) {
  std::mt19937 random(14);
  const auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int trial = 0; trial < 200; ++trial) {
    std::string text = "source,channel,mask\n";
    std::vector<std::pair<std::uint32_t, std::pair<std::uint32_t, std::uint32_t>>> rows;
    for (auto n = 1 + below(12); n > 0; --n) {
      const auto low = below(40);
      rows.push_back({below(3), {low, low + below(8)}});
      const auto& [source, channels] = rows.back();
      text += std::to_string(source) + "," + std::to_string(channels.first) + "-" + std::to_string(channels.second) +
              ",0\n";
    }
    const auto detector = detector_of(text, 3);
    ChannelUse use(detector);
    std::set<std::pair<std::uint32_t, std::uint32_t>> seen;
    for (auto n = below(30); n > 0; --n) {
      const auto source = below(3);
      const auto channel = below(50);
      seen.insert({source, channel});
      use.see(static_cast<std::uint16_t>(source), ChannelList{channel});
    }
    Numbers expected;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto& [source, channels] = rows[i];
      const auto first = seen.lower_bound({source, channels.first});
      if (first == seen.end() || first->first != source || first->second > channels.second) expected.push_back(i);
    }
    ASSERT_EQ(use.unused_selections(), expected) << text;
  }
}

}  // namespace
}  // namespace eventloom
