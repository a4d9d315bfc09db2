#include "app/tools/align/pair_histograms.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace eventloom {
namespace {

TEST(DifferenceBins, CoverTheReach) {
  const auto exact = DifferenceBins::over(10, 100);
  EXPECT_EQ(exact.bins, 21U);
  EXPECT_EQ(exact.centre(0), -10);
  EXPECT_EQ(exact.centre(20), 10);
  const auto wide = DifferenceBins::over(10, 7);
  EXPECT_EQ(wide.width, 3);
  EXPECT_EQ(wide.bins, 7U);
  EXPECT_EQ(wide.centre(3), 0) << "ticks -1, 0 and 1";
}

/// Each pair of hits within reach is counted once, however the hits are split into pieces.
TEST(PairHistograms, AgreeWithAllPairsOfHits) {
  std::mt19937 random(5);
  std::vector<UnitHit> hits;
  for (int i = 0; i < 400; ++i)
    hits.push_back({static_cast<std::int64_t>(random() % 3000), static_cast<std::uint32_t>(random() % 4)});
  std::ranges::stable_sort(hits, {}, &UnitHit::time);
  constexpr std::int64_t kNear = 25;
  PairHistograms histograms(4, kNear, 1);
  for (std::size_t at = 0; at < hits.size();) {
    const std::size_t n = std::min<std::size_t>(1 + random() % 40, hits.size() - at);
    histograms.add(std::span(hits).subspan(at, n), 0);
    at += n;
  }
  std::uint64_t all = 0;
  for (std::size_t pair = 0; pair < histograms.pairs(); ++pair) {
    const auto [a, b] = histograms.units(pair);
    std::vector<std::uint32_t> expected(2 * kNear + 1);
    std::int64_t sum = 0;
    for (const auto& of_a : hits) {
      for (const auto& of_b : hits) {
        const auto apart = of_b.time - of_a.time;
        if (of_a.unit != a || of_b.unit != b || std::abs(apart) > kNear) continue;
        ++expected[static_cast<std::size_t>(apart + kNear)];
        sum += apart;
      }
    }
    EXPECT_TRUE(std::ranges::equal(histograms.counts(pair), expected)) << a << " and " << b;
    EXPECT_EQ(histograms.sums(pair)[0].ticks, sum);
    all += histograms.sums(pair)[0].n;
  }
  const auto total = histograms.total();
  EXPECT_EQ(std::accumulate(total.begin(), total.end(), std::uint64_t{0}), all);
}

TEST(PairHistograms, ManyUnitsAreAllConnectedByFewPairs) {
  constexpr std::size_t kUnits = 1000;
  const PairHistograms histograms(kUnits, 5, 1);
  EXPECT_LT(histograms.pairs(), kUnits * 24);
  std::vector<bool> next(kUnits);
  for (std::size_t pair = 0; pair < histograms.pairs(); ++pair) {
    const auto [a, b] = histograms.units(pair);
    if (b == a + 1) next[a] = true;
  }
  EXPECT_EQ(std::ranges::count(next, true), kUnits - 1);
}

}  // namespace
}  // namespace eventloom
