#include "core/monitor/channel_counts.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace eventloom {
namespace {

using Channels = std::vector<ChannelCounts::Channel>;
constexpr std::size_t kAny = 1'000'000;

struct Hits {
  std::vector<std::uint16_t> sources;
  std::vector<std::uint32_t> channels;
};

/// Hits on channels drawn from all possible ones.
Hits random_hits(int n, unsigned seed) {
  std::mt19937 random(seed);
  Hits hits;
  for (int i = 0; i < n; ++i) {
    hits.sources.push_back(static_cast<std::uint16_t>(random() % 5 * 7));
    hits.channels.push_back(random() % 3 == 0 ? random() % 3000 : (1U << 28) - 1 - random() % 10);
  }
  return hits;
}

std::uint64_t sum(const std::vector<ChannelRow>& rows) {
  std::uint64_t hits = 0;
  for (const auto& row : rows) hits += row.hits;
  return hits;
}

TEST(ChannelCounts, AreThoseOfAMap) {
  const auto hits = random_hits(20'000, 3);
  std::map<std::uint32_t, std::map<std::uint32_t, std::uint64_t>> expected;
  for (std::size_t i = 0; i < hits.sources.size(); ++i) ++expected[hits.sources[i]][hits.channels[i]];
  ChannelCounts counts({kAny, kAny});
  counts.add(hits.sources, hits.channels);
  ASSERT_EQ(counts.of_sources().size(), 29U);
  const auto found = counts.busiest(kAny);
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& of : found) {
    const auto& channels = expected[of.source];
    EXPECT_EQ(of.channels, Channels(channels.begin(), channels.end()));
    EXPECT_EQ(of.others, 0U);
    std::uint64_t all = 0;
    for (const auto& [channel, n] : channels) all += n;
    EXPECT_EQ(counts.of_sources()[of.source], all);
  }
}

TEST(ChannelCounts, BusiestAreInTheOrderOfChannels) {
  ChannelCounts counts;
  counts.add(std::vector<std::uint16_t>(7), std::vector<std::uint32_t>{9, 9, 9, 2, 2, 5, 7});
  EXPECT_EQ(counts.busiest(2), (std::vector<ChannelCounts::OfSource>{{0, {{2, 2}, {9, 3}}, 2}}));
}

TEST(ChannelCounts, SomeChannelsHaveRowsOthersShareOne) {
  ChannelCounts counts({2, 3});
  counts.add(std::vector<std::uint16_t>{0, 0, 0, 4, 4}, std::vector<std::uint32_t>{7, 8, 8, 1, 1});
  EXPECT_EQ(counts.take(kAny).size(), 3U);
  counts.add(std::vector<std::uint16_t>{0, 0, 0, 0, 4, 4}, std::vector<std::uint32_t>{6, 7, 8, 8, 1, 2});
  counts.add(ChannelRow{0, 9, 10});
  EXPECT_EQ(counts.busiest(9), (std::vector<ChannelCounts::OfSource>{{0, {{7, 1}, {8, 2}}, 11}, {4, {{1, 1}}, 1}}));
  EXPECT_EQ(counts.of_sources(), (std::vector<std::uint64_t>{14, 0, 0, 0, 2}));
}

TEST(ChannelCounts, MemoryIsBounded) {
  std::vector<std::uint32_t> channels(300'000);
  for (std::size_t i = 0; i < channels.size(); ++i) channels[i] = static_cast<std::uint32_t>(i * 877);
  ChannelCounts counts;
  for (const std::uint16_t source : {0, 1, 2})
    counts.add(std::vector<std::uint16_t>(channels.size(), source), channels);
  EXPECT_EQ(counts.rows().size(), 3 * (1024U + 1));
  EXPECT_EQ(counts.of_sources(), std::vector<std::uint64_t>(3, channels.size()));
}

/// Counts that are taken in portions of any size and added elsewhere give the same totals.
TEST(ChannelCounts, AreTakenInTurn) {
  ChannelCounts counts({kAny, kAny});
  ChannelCounts elsewhere({kAny, kAny});
  ChannelCounts all({kAny, kAny});
  for (unsigned round = 0; round < 20; ++round) {
    const auto hits = random_hits(500, round);
    counts.add(hits.sources, hits.channels);
    all.add(hits.sources, hits.channels);
    const auto rows = counts.take(37);
    EXPECT_EQ(rows.size(), 37U);
    for (const auto& row : rows) elsewhere.add(row);
  }
  for (const auto& row : counts.take(kAny)) elsewhere.add(row);
  EXPECT_TRUE(counts.take(kAny).empty());
  EXPECT_EQ(elsewhere.busiest(kAny), all.busiest(kAny));
  EXPECT_EQ(sum(elsewhere.rows()), 20U * 500);
}

}  // namespace
}  // namespace eventloom
