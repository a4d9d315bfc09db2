#include "app/document/latency_histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace eventloom {

namespace {

using Samples = std::vector<double>;

constexpr double kBinWidth = 1.01;  // as the header states
constexpr double kRounding = 1e-9;

struct Distribution {
  std::string name;
  std::function<double(std::mt19937_64&)> draw;
};

std::ostream& operator<<(std::ostream& out, const Distribution& d) { return out << d.name; }

Samples draw(const Distribution& distribution, std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  Samples samples(n);
  for (auto& sample : samples) sample = distribution.draw(random);
  return samples;
}

LatencyHistogram histogram_of(const Samples& samples) {
  LatencyHistogram histogram;
  for (const double sample : samples) histogram.add(sample);
  return histogram;
}

/// The smallest sample that at least `per_mille` of all samples do not exceed, computed with integers.
double exact(Samples samples, std::size_t per_mille) {
  std::ranges::sort(samples);
  const auto rank = std::max<std::size_t>((per_mille * samples.size() + 999) / 1000, 1);
  return samples.at(rank - 1);
}

class Percentiles : public testing::TestWithParam<Distribution> {};

void expect_percentiles(const Samples& samples) {
  const auto histogram = histogram_of(samples);
  for (const std::size_t per_mille : {0, 1, 10, 250, 500, 501, 900, 990, 999, 1000}) {
    const double truth = exact(samples, per_mille);
    const double reported = histogram.percentile(static_cast<double>(per_mille) / 10);
    EXPECT_GE(reported, truth * (1 - kRounding)) << per_mille << " of " << samples.size();
    EXPECT_LE(reported, truth * kBinWidth) << per_mille << " of " << samples.size();
    EXPECT_GE(reported, histogram.min());
    EXPECT_LE(reported, histogram.max());
  }
}

}  // namespace

TEST_P(Percentiles, AreThoseOfTheSortedSamples) {
  for (const std::size_t n : {1, 2, 3, 10, 999, 1000, 20001}) {
    expect_percentiles(draw(GetParam(), n, 20240501));
  }
}

TEST_P(Percentiles, GreatestLeastAndMeanAreExact) {
  const auto samples = draw(GetParam(), 5000, 7);
  const auto histogram = histogram_of(samples);
  EXPECT_EQ(histogram.count(), samples.size());
  EXPECT_EQ(histogram.min(), std::ranges::min(samples));
  EXPECT_EQ(histogram.max(), std::ranges::max(samples));
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0);
  EXPECT_DOUBLE_EQ(histogram.mean(), sum / 5000);
}

TEST_P(Percentiles, MergedEqualAllInOne) {
  const auto samples = draw(GetParam(), 3000, 11);
  const Samples head(samples.begin(), samples.begin() + 700);
  const Samples tail(samples.begin() + 700, samples.end());
  const auto all = histogram_of(samples);
  auto merged = histogram_of(head);
  merged.add(LatencyHistogram());
  merged.add(histogram_of(tail));
  EXPECT_EQ(merged.count(), all.count());
  EXPECT_EQ(merged.min(), all.min());
  EXPECT_EQ(merged.max(), all.max());
  EXPECT_NEAR(merged.mean(), all.mean(), all.mean() * kRounding);
  for (const double p : {0.0, 10.0, 50.0, 90.0, 99.9, 100.0}) EXPECT_EQ(merged.percentile(p), all.percentile(p)) << p;
}

TEST_P(Percentiles, IsUnpackedAsItWasPacked) {
  const auto histogram = histogram_of(draw(GetParam(), 3000, 13));
  const auto back = LatencyHistogram::unpack(histogram.packed());
  EXPECT_EQ(back.packed(), histogram.packed());
  EXPECT_EQ(back.to_json(), histogram.to_json());
}

INSTANTIATE_TEST_SUITE_P(
    Latency, Percentiles,
    testing::Values(Distribution{"uniform", [](auto& r) { return std::uniform_real_distribution(1.0, 5000.0)(r); }},
                    Distribution{"lognormal", [](auto& r) { return 1 + std::lognormal_distribution(8.0, 2.0)(r); }},
                    Distribution{"whole", [](auto& r) { return double(std::uniform_int_distribution(20, 90)(r)); }},
                    Distribution{"two_peaks", [](auto& r) { return r() % 10 == 0 ? 3.7e9 : 250.5; }},
                    Distribution{"every_decade",
                                 [](auto& r) { return std::pow(10, std::uniform_real_distribution(0.0, 11.99)(r)); }}),
    [](const auto& test) { return test.param.name; });

TEST(LatencyHistogram, EqualTimesHaveThatPercentile) {
  const auto histogram = histogram_of(Samples(1000, 1234.5));
  for (const double p : {0.0, 50.0, 99.9, 100.0}) EXPECT_EQ(histogram.percentile(p), 1234.5);
}

TEST(LatencyHistogram, OneSlowInThousandShowsOnlyAtTheTop) {
  Samples samples(999, 100.0);
  samples.push_back(1e6);
  const auto histogram = histogram_of(samples);
  EXPECT_LE(histogram.percentile(99.9), 101);
  EXPECT_EQ(histogram.percentile(99.91), 1e6);
}

TEST(LatencyHistogram, TimesOutsideTheBinsCount) {
  const auto histogram = histogram_of({-5, 0, 0.5, 100, 2e12, 3e12});
  EXPECT_EQ(histogram.count(), 6U);
  EXPECT_EQ(histogram.percentile(50), -5);  // same bin as 0 and 0.5
  EXPECT_NEAR(histogram.percentile(60), 100, 1);
  EXPECT_EQ(histogram.percentile(70), 3e12);
  EXPECT_EQ(histogram.max(), 3e12);
  EXPECT_EQ(LatencyHistogram::unpack(histogram.packed()).to_json(), histogram.to_json());
}

TEST(LatencyHistogram, NothingAddedIsNull) {
  const LatencyHistogram nothing;
  EXPECT_TRUE(std::isnan(nothing.min()) && std::isnan(nothing.max()) && std::isnan(nothing.mean()));
  EXPECT_TRUE(std::isnan(nothing.percentile(50)));
  const auto json = LatencyHistogram::unpack(nothing.packed()).to_json();
  EXPECT_EQ(json.at("count"), 0);
  EXPECT_TRUE(json.at("p50_ns").is_null() && json.at("min_ns").is_null());
}

TEST(LatencyHistogram, JsonHasTheAgreedKeys) {
  Samples samples;
  const std::vector<std::pair<std::size_t, double>> steps = {{500, 10}, {400, 100}, {90, 1000}, {9, 1e4}, {1, 1e5}};
  for (const auto& [n, ns] : steps) samples.insert(samples.end(), n, ns);
  const auto json = histogram_of(samples).to_json();
  EXPECT_EQ(json.size(), 10U);
  EXPECT_EQ(json.at("count"), 1000);
  EXPECT_EQ(json.at("min_ns"), 10.0);
  EXPECT_EQ(json.at("mean_ns"), 325.0);
  EXPECT_NEAR(json.at("p10_ns"), 10, 0.1);
  EXPECT_NEAR(json.at("p50_ns"), 10, 0.1);
  EXPECT_NEAR(json.at("p90_ns"), 100, 1);
  EXPECT_NEAR(json.at("p99_ns"), 1000, 10);
  EXPECT_NEAR(json.at("p999_ns"), 1e4, 100);
  EXPECT_EQ(json.at("p9999_ns"), 1e5);
  EXPECT_EQ(json.at("max_ns"), 1e5);
}

TEST(LatencyHistogram, WhatIsNotPackedIsRefused) {
  for (const char* text : {"null", "{}", "{\"bins\":[[999999,1]]}", "{\"bins\":[[5,1]]}"}) {
    EXPECT_THROW(LatencyHistogram::unpack(Json::parse(text)), std::exception) << text;
  }
}

TEST(LatencyHistogram, IsThatOfItsBins) {
  LatencyHistogram latency;
  std::mt19937 random(8);
  std::lognormal_distribution<double> times(12, 3);
  for (int i = 0; i < 5000; ++i) latency.add(times(random));
  latency.add(-3);
  latency.add(5e12);
  const auto bins = latency.bins();
  EXPECT_EQ(bins.front().low, -3);
  EXPECT_EQ(bins.back().high, 5e12);
  const auto again = LatencyHistogram::from_bins(bins);
  EXPECT_EQ(again.count(), 5002U);
  EXPECT_EQ(again.min(), latency.min());
  EXPECT_EQ(again.max(), latency.max());
  for (const double p : {1.0, 50.0, 90.0, 99.0, 99.9}) EXPECT_EQ(again.percentile(p), latency.percentile(p)) << p;
  EXPECT_TRUE(LatencyHistogram().bins().empty());
  EXPECT_EQ(LatencyHistogram::from_bins({}).count(), 0U);
}

}  // namespace eventloom
