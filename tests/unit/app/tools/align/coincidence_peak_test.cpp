#include "app/tools/align/coincidence_peak.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace eventloom {
namespace {

constexpr std::int64_t kReach = 1000;

/// Time differences of a peak on a flat background. Width 0: all hits of the peak lie at its mean.
std::vector<std::uint32_t> counts_of(const DifferenceBins& bins, int signal, double mean, double width, int background,
                                     unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<> noise;
  std::uniform_int_distribution<std::int64_t> flat(-kReach, kReach);
  std::vector<std::uint32_t> counts(bins.bins);
  const auto add = [&](std::int64_t ticks) { ++counts[static_cast<std::size_t>((ticks + bins.reach) / bins.width)]; };
  for (int i = 0; i < signal; ++i)
    add(std::clamp<std::int64_t>(std::llround(mean + width * noise(random)), -kReach, kReach));
  for (int i = 0; i < background; ++i) add(flat(random));
  return counts;
}

TEST(CoincidencePeak, IsFoundWithItsErrorInNoise) {
  const auto bins = DifferenceBins::over(kReach, 4096);
  double pulls = 0;
  constexpr unsigned kTrials = 50;
  for (unsigned seed = 0; seed < kTrials; ++seed) {
    const double mean = -800.0 + 32 * seed;
    const auto peak = find_peak(counts_of(bins, 400, mean, 7, 3000, seed), bins);
    ASSERT_TRUE(peak) << seed;
    EXPECT_NEAR(peak->mean, mean, 6 * peak->error) << seed;
    EXPECT_NEAR(peak->width, 7, 2) << seed;
    EXPECT_NEAR(peak->signal, 400, 60) << seed;
    pulls += std::pow((peak->mean - mean) / peak->error, 2);
  }
  EXPECT_LT(pulls / kTrials, 2) << "the errors are too small";
  EXPECT_GT(pulls / kTrials, 0.5) << "the errors are too large";
}

TEST(CoincidencePeak, OfOneTickIsFoundExactly) {
  const auto bins = DifferenceBins::over(kReach, 4096);
  const auto peak = find_peak(counts_of(bins, 100, 123, 0, 200, 1), bins);
  ASSERT_TRUE(peak);
  EXPECT_NEAR(peak->mean, 123, 0.1);
  EXPECT_NEAR(peak->error, std::sqrt(1.0 / 12 / 100), 0.02);
}

/// No histogram of noise has a peak, not even one with few entries.
TEST(CoincidencePeak, NoiseHasNone) {
  const auto bins = DifferenceBins::over(kReach, 4096);
  for (unsigned seed = 0; seed < 300; ++seed) {
    for (const int background : {0, 20, 300, 20'000}) {
      EXPECT_FALSE(find_peak(counts_of(bins, 0, 0, 1, background, seed), bins)) << seed << ", " << background;
    }
  }
}

}  // namespace
}  // namespace eventloom
