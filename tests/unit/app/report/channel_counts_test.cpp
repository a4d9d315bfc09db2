#include "app/report/channel_counts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace eventloom {

TEST(ChannelCounts, AreThoseOfAMap) {
  std::mt19937 random(3);
  std::vector<std::uint16_t> sources;
  std::vector<std::uint32_t> channels;
  std::map<std::uint16_t, std::map<std::uint32_t, std::uint64_t>> expected;
  for (int i = 0; i < 20000; ++i) {
    sources.push_back(static_cast<std::uint16_t>(random() % 5 * 7));
    channels.push_back(random() % 3 == 0 ? random() % 3000 : (1U << 28) - 1 - random() % 10);
    ++expected[sources.back()][channels.back()];
  }
  ChannelCounts counts;
  counts.add(sources, channels);
  ASSERT_EQ(counts.of_sources().size(), 29U);
  for (const auto& [source, hits] : expected) {
    EXPECT_EQ(counts.busiest(source, 100000), std::vector<ChannelCounts::Channel>(hits.begin(), hits.end()));
    EXPECT_EQ(counts.of_sources()[source], static_cast<std::uint64_t>(std::ranges::count(sources, source)));
  }
}

TEST(ChannelCounts, BusiestAreInTheOrderOfChannels) {
  ChannelCounts counts;
  counts.add(std::vector<std::uint16_t>(6), std::vector<std::uint32_t>{9, 9, 9, 2, 2, 5});
  EXPECT_EQ(counts.busiest(0, 2), (std::vector<ChannelCounts::Channel>{{2, 2}, {9, 3}}));
  EXPECT_TRUE(counts.busiest(1, 2).empty());
}

TEST(ChannelCounts, MemoryIsBounded) {
  ChannelCounts counts;
  std::vector<std::uint32_t> channels;
  for (std::uint32_t page = 0; page < 9000; ++page) channels.push_back(page * 1024);
  counts.add(std::vector<std::uint16_t>(channels.size()), channels);
  EXPECT_EQ(counts.of_sources()[0], 9000U);
  EXPECT_EQ(counts.busiest(0, 100000).size(), 8192U);
}

}  // namespace eventloom
