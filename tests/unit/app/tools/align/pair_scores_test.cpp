#include "app/tools/align/pair_scores.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace eventloom {
namespace {

constexpr std::int64_t kFarthest = 200;
constexpr double kJitter = 8;

/// Flashes of which each unit sees most, and noise.
struct Setting {
  std::uint32_t units;
  int flashes;
  int noise;  ///< hits of each unit
  double seen;
  double span = 4e6;
};

std::vector<UnitHit> hits_of(const Setting& setting, std::mt19937_64& random) {
  std::uniform_real_distribution<> anywhere(1e3, setting.span);
  std::uniform_real_distribution<> part(0, 1);
  std::normal_distribution<> jitter(0, kJitter);
  std::vector<UnitHit> hits;
  for (std::uint32_t unit = 0; unit < setting.units; ++unit) {
    for (int i = 0; i < setting.noise; ++i) hits.push_back({std::llround(anywhere(random)), unit});
  }
  for (int i = 0; i < setting.flashes; ++i) {
    const double time = anywhere(random);
    for (std::uint32_t unit = 0; unit < setting.units; ++unit) {
      if (part(random) < setting.seen) hits.push_back({std::llround(time + jitter(random)), unit});
    }
  }
  std::ranges::stable_sort(hits, {}, &UnitHit::time);
  return hits;
}

/// The values that are found for units which all are at 0, over their errors.
std::vector<double> pulls_of(const Setting& setting, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto hits = hits_of(setting, random);
  PairHistograms histograms(setting.units, kFarthest, 1);
  histograms.add(hits, 0);
  std::vector<PairDifference> differences;
  std::vector<CoincidencePeak> peaks;
  for (std::size_t pair = 0; pair < histograms.pairs(); ++pair) {
    const auto peak = find_peak(histograms.counts(pair), histograms.bins());
    if (!peak) continue;
    const auto [first, second] = histograms.units(pair);
    differences.push_back({first, second, peak->mean, peak->error});
    peaks.push_back(*peak);
  }
  const auto solved = solve_pairs(setting.units, 0, differences, 1);
  PairScores scores(setting.units, differences, peaks, 1);
  for (std::size_t at = 0; at < hits.size(); at += 1000) {  // in pieces, as they are read
    scores.add(std::span(hits).subspan(at, std::min<std::size_t>(1000, hits.size() - at)));
  }
  const auto errors = errors_of(0, differences, solved, scores.covariance());
  std::vector<double> pulls;
  for (std::uint32_t unit = 1; unit < setting.units; ++unit) pulls.push_back(solved[unit].value().value / errors[unit]);
  return pulls;
}

/// What is found scatters around the truth as its errors say, whether few or many units share the hits of a flash, with
/// and without chance partners, and where hits follow each other without a pause.
TEST(PairScores, PullsHaveAWidthOfOne) {
  for (const Setting& setting : {Setting{2, 200, 0, 0.9}, Setting{2, 200, 800, 0.9}, Setting{4, 200, 800, 0.7},
                                 Setting{8, 200, 0, 0.8}, Setting{8, 200, 800, 0.8}, Setting{16, 200, 0, 0.6},
                                 Setting{16, 200, 800, 0.6}, Setting{6, 1000, 3000, 1, 3e5}}) {
    const int trials = 500 / static_cast<int>(setting.units);  // each has as many pulls as units, less one
    double sum = 0;
    double n = 0;
    for (int trial = 0; trial < trials; ++trial) {
      for (const double pull : pulls_of(setting, static_cast<std::uint64_t>(trial))) {
        sum += pull * pull;
        n += 1;
      }
    }
    EXPECT_NEAR(std::sqrt(sum / n), 1, 0.1) << setting.units << " units, " << setting.noise << " hits of noise";
  }
}

/// Without jitter, the error is that of the width of a tick.
TEST(PairScores, OfOneTickHaveTheErrorOfABin) {
  std::vector<UnitHit> hits;
  for (std::int64_t i = 0; i < 48; ++i) {
    hits.push_back({1000 * i, 0});
    hits.push_back({1000 * i, 1});
  }
  std::vector<PairDifference> differences = {{0, 1, 0, 0.5}};
  const std::vector<CoincidencePeak> peaks = {{.mean = 0, .error = 0.5, .width = 0, .signal = 48, .half = 1}};
  PairScores scores(2, differences, peaks, 1);
  scores.add(hits);
  const auto solved = solve_pairs(2, 0, differences, 1);
  EXPECT_NEAR(errors_of(0, differences, solved, scores.covariance())[1], std::sqrt(1.0 / 12 / 48), 1e-9);
}

}  // namespace
}  // namespace eventloom
