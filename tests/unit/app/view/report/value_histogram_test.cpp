#include "app/view/report/value_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace eventloom {

namespace {

using Values = std::vector<std::uint64_t>;

ValueHistogram histogram_of(const Values& values) {
  ValueHistogram histogram;
  for (const auto value : values) histogram.add(value);
  return histogram;
}

/// Each bin holds the values between its edges, and every value is in exactly one bin.
void expect_counts(const Values& values, const Bins& bins) {
  ASSERT_EQ(bins.edges.size(), bins.counts.size() + 1);
  ASSERT_TRUE(std::ranges::is_sorted(bins.edges, std::less_equal<>())) << "edges must ascend";
  for (std::size_t i = 0; i < bins.counts.size(); ++i) {
    const auto inside = [&](std::uint64_t v) { return bins.edges[i] <= v && v < bins.edges[i + 1]; };
    EXPECT_EQ(bins.counts[i], static_cast<std::uint64_t>(std::ranges::count_if(values, inside))) << bins.edges[i];
  }
  EXPECT_EQ(std::accumulate(bins.counts.begin(), bins.counts.end(), std::uint64_t{0}), values.size());
}

Values drawn(std::size_t n, std::uint64_t low, std::uint64_t high, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> exponent(std::log2(static_cast<double>(low)),
                                                  std::log2(static_cast<double>(high)));
  Values values(n);
  for (auto& value : values) value = static_cast<std::uint64_t>(std::exp2(exponent(random)));
  return values;
}

}  // namespace

TEST(ValueHistogram, WithoutEntries) {
  const ValueHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_TRUE(histogram.bins(20).counts.empty());
}

TEST(ValueHistogram, EvenBinsOfWholeNumbers) {
  const Values values = {4, 4, 5, 9, 13};
  const auto bins = histogram_of(values).bins(20);
  EXPECT_FALSE(bins.log);
  EXPECT_EQ(bins.edges, (Values{4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}));
  expect_counts(values, bins);
}

TEST(ValueHistogram, EqualValuesHaveOneBin) {
  for (const std::uint64_t value : {0UL, 1UL, 255UL, 256UL, 1'000'000'007UL}) {
    const Values values(3, value);
    const auto bins = histogram_of(values).bins(20);
    EXPECT_EQ(bins.counts, Values{3}) << value;
    expect_counts(values, bins);
  }
}

TEST(ValueHistogram, BinsHoldWhatLiesBetweenTheirEdges) {
  for (const auto& [low, high] : {std::pair<std::uint64_t, std::uint64_t>{1, 40},
                                  {1000, 9000},
                                  {1, 1'000'000},
                                  {500'000, 3'000'000},
                                  {1, 1ULL << 62},
                                  {60000, 65000}}) {
    for (const std::size_t most : {16, 40, 120}) {
      const auto values = drawn(5000, low, high, 11);
      const auto histogram = histogram_of(values);
      const auto bins = histogram.bins(most);
      expect_counts(values, bins);
      EXPECT_LE(bins.counts.size(), std::max<std::size_t>(most, 64) + 1);
      EXPECT_EQ(histogram.least(), std::ranges::min(values));
      EXPECT_EQ(histogram.greatest(), std::ranges::max(values));
    }
  }
}

TEST(ValueHistogram, TheGreatestNumberHasABin) {
  const Values values = {0, 1, UINT64_MAX / 2, UINT64_MAX - 1};
  expect_counts(values, histogram_of(values).bins(20));
}

TEST(ValueHistogram, TailAndQuantile) {
  const auto values = drawn(5000, 1, 1'000'000, 4);
  const auto histogram = histogram_of(values);
  for (const std::uint64_t from : {0UL, 1UL, 200UL, 300UL, 50'001UL, 999'999UL}) {
    const auto tail = histogram.tail(from);
    EXPECT_GE(tail.from, from);
    EXPECT_LE(static_cast<double>(tail.from), static_cast<double>(from) * 1.01);
    std::uint64_t n = 0;
    double sum = 0;
    for (const auto value : values) {
      n += value >= tail.from ? 1 : 0;
      sum += value >= tail.from ? static_cast<double>(value) : 0;
    }
    EXPECT_EQ(tail.count, n);
    EXPECT_DOUBLE_EQ(tail.sum, sum);
  }
  for (const double p : {0.01, 0.5, 0.99, 1.0}) {
    const auto q = histogram.quantile(p);
    EXPECT_GE(std::ranges::count_if(values, [&](auto v) { return v <= q; }), p * 5000);
    EXPECT_LE(std::ranges::count_if(values, [&](auto v) { return static_cast<double>(v) < q / 1.01; }), p * 5000);
  }
}

/// Random points in whole ticks, each followed by `dead` ticks without points: the tail must give the rate, whether
/// ticks are fine or coarse.
TEST(ExponentialFit, FindsTheRateWithinItsError) {
  for (const auto& [rate, dead, seed] :
       {std::tuple{1e-4, 0.0, 5U}, {1e-4, 3000.0, 6U}, {0.4, 3.0, 7U}, {2.0, 1.0, 8U}}) {
    std::mt19937_64 random(seed);
    std::exponential_distribution<double> intervals(rate);
    Values values;
    double time = 0;
    while (values.size() < 20000) {
      const double next = time + dead + intervals(random);
      const auto ticks = static_cast<std::uint64_t>(next) - static_cast<std::uint64_t>(time);
      if (ticks > 0) values.push_back(ticks);
      time = next;
    }
    const auto histogram = histogram_of(values);
    const auto bins = histogram.bins(120);
    const auto fit = fit_exponential(histogram, static_cast<std::uint64_t>(dead) + 1, bins);
    EXPECT_NEAR(fit.rate, rate, 4 * fit.error) << rate << ' ' << dead;
    EXPECT_LT(fit.error, rate / 50);
    double chi_square = 0;
    double n = 0;
    for (std::size_t i = 0; i < bins.counts.size(); ++i) {
      if (bins.edges[i] < fit.from || fit.curve[i] < 10) continue;
      chi_square += std::pow(static_cast<double>(bins.counts[i]) - fit.curve[i], 2) / fit.curve[i];
      ++n;
    }
    EXPECT_LT(chi_square, n + 5 * std::sqrt(2 * n)) << rate << ' ' << dead;
  }
}

}  // namespace eventloom
