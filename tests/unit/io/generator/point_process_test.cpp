#include "io/generator/point_process.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

constexpr int kDraws = 200000;
constexpr double kStandardErrors = 5;

struct Moments {
  double mean = 0;
  double variance = 0;
};

Moments moments(const std::vector<double>& values) {
  Moments m;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) m.mean += v / n;
  for (const double v : values) m.variance += (v - m.mean) * (v - m.mean) / (n - 1);
  return m;
}

/// `kurtosis`: fourth central moment over the squared variance; it gives the error of a variance.
void expect_moments(const std::vector<double>& values, Moments expected, double kurtosis) {
  const auto n = static_cast<double>(values.size());
  const auto found = moments(values);
  EXPECT_NEAR(found.mean, expected.mean, kStandardErrors * std::sqrt(expected.variance / n));
  EXPECT_NEAR(found.variance, expected.variance, kStandardErrors * expected.variance * std::sqrt((kurtosis - 1) / n));
}

std::vector<double> draw(const std::function<double(RandomEngine&)>& distribution) {
  RandomEngine engine(7);
  std::vector<double> values(kDraws);
  for (auto& value : values) value = distribution(engine);
  return values;
}

void expect_share(const std::vector<double>& values, const std::function<bool(double)>& test, double expected) {
  const auto n = static_cast<double>(values.size());
  const auto share = static_cast<double>(std::ranges::count_if(values, test)) / n;
  EXPECT_NEAR(share, expected, kStandardErrors * std::sqrt(expected * (1 - expected) / n));
}

std::vector<Tick> times(PointProcess process, std::size_t n, std::uint64_t seed = 3) {
  RandomEngine engine(seed);
  std::vector<Tick> out(n);
  for (auto& time : out) time = process.next(engine);
  return out;
}

std::vector<double> spacings(const std::vector<Tick>& times) {
  std::vector<double> out;
  for (std::size_t i = 1; i < times.size(); ++i) out.push_back(static_cast<double>(times[i] - times[i - 1]));
  return out;
}

TEST(PointProcess, UniformFillsTheUnitInterval) {
  const auto values = draw(uniform);
  expect_moments(values, {0.5, 1.0 / 12}, 1.8);
  EXPECT_TRUE(std::ranges::all_of(values, [](double v) { return v >= 0 && v < 1; }));
}

TEST(PointProcess, ExponentialHasItsMomentsAndTail) {
  const auto values = draw(exponential);
  expect_moments(values, {1, 1}, 9);
  for (const double x : {0.1, 0.5, 1.0, 1.5, 3.0}) {
    expect_share(
        values, [x](double v) { return v > x; }, std::exp(-x));
  }
}

TEST(PointProcess, NormalHasItsMomentsAndTails) {
  const auto values = draw(normal);
  expect_moments(values, {0, 1}, 3);
  for (const double x : {-2.0, -0.5, 0.3, 1.0, 2.5}) {
    expect_share(
        values, [x](double v) { return v > x; }, std::erfc(x / std::sqrt(2.0)) / 2);
  }
}

TEST(PointProcess, UniformBelowReachesEveryNumberEqually) {
  const auto values = draw([](RandomEngine& engine) { return uniform_below(engine, 5); });
  for (int n = 0; n < 5; ++n)
    expect_share(
        values, [n](double v) { return v == n; }, 0.2);
}

TEST(PointProcess, PoissonNumberHasMeanAndVarianceAlike) {
  const double mean = 3.5;
  const auto values = draw([&](RandomEngine& engine) { return static_cast<double>(poisson_number(engine, mean)); });
  expect_moments(values, {mean, mean}, 3 + 1 / mean);
  expect_share(
      values, [](double v) { return v == 0; }, std::exp(-mean));
}

TEST(PointProcess, StaticTimesDoNotDrift) {
  const auto found = times(PointProcess("static", 2.5), 1'000'001);
  EXPECT_EQ(found[0], Tick(0));
  EXPECT_EQ(found[1], Tick(2));
  EXPECT_EQ(found[2], Tick(5));
  EXPECT_EQ(found[1'000'000], Tick(2'500'000));
}

TEST(PointProcess, GaussianSpacingSpreadsByAQuarter) {
  expect_moments(spacings(times(PointProcess("gaussian", 1000), kDraws)), {1000, 250.0 * 250}, 3);
}

TEST(PointProcess, PoissonSpacingSpreadsByItsMean) {
  expect_moments(spacings(times(PointProcess("poisson", 1000), kDraws)), {1000, 1e6}, 9);
}

TEST(PointProcess, BurstsAre25TimesWithin100Ticks) {
  const auto found = times(PointProcess("burst", 1e6), 25 * 4000);
  std::vector<Tick> starts;
  for (std::size_t i = 0; i < found.size(); i += 25) {
    starts.push_back(found[i]);
    ASSERT_LE(found[i + 24] - found[i], Tick(100));
  }
  expect_moments(spacings(starts), {25e6, 25e6 * 25e6}, 9);
}

TEST(PointProcess, OverlappingBurstsStayInOrderAndKeepTheRate) {
  const std::size_t n = 25 * 8000;
  const auto found = times(PointProcess("burst", 2), n);
  EXPECT_TRUE(std::ranges::is_sorted(found));
  const double bunches = 8000;
  EXPECT_NEAR(static_cast<double>(found.back()), bunches * 50, kStandardErrors * 50 * std::sqrt(bunches) + 100);
}

TEST(PointProcess, SameSeedSameTimes) {
  for (const auto* timing : {"static", "gaussian", "poisson", "burst"}) {
    EXPECT_EQ(times(PointProcess(timing, 10), 1000, 5), times(PointProcess(timing, 10), 1000, 5)) << timing;
  }
  EXPECT_NE(times(PointProcess("poisson", 10), 1000, 5), times(PointProcess("poisson", 10), 1000, 6));
}

TEST(PointProcess, TimesThatDoNotFitAreTheLargestTick) {
  EXPECT_EQ(times(PointProcess("static", 1e19), 3).back(), std::numeric_limits<Tick>::max());
}

TEST(PointProcess, UnknownTimingListsTheKnownOnes) {
  try {
    PointProcess("fractal", 1);
    FAIL();
  } catch (const UserError& e) {
    EXPECT_STREQ(e.what(), "'fractal' is not a timing; there are static, gaussian, poisson, burst");
  }
}

}  // namespace
}  // namespace eventloom
