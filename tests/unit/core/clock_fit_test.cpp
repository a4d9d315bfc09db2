#include "core/control/clock_fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace eventloom {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kHour = 3600 * kSecond;
constexpr std::int64_t kStart = 5 * kHour;  ///< of the tests, by the master's clock
constexpr std::int64_t kDelay = 1000;       ///< one way, ns, without jitter

struct World {
  std::int64_t offset = 0;     ///< local minus master at kStart
  double drift = 0;            ///< of the local clock against the master's
  double jitter = 0;           ///< mean of each direction, ns, exponential
  double outliers = 0;         ///< share of round trips with one direction 100 times as long as a normal round trip
  std::int64_t asymmetry = 0;  ///< the way to the master always takes longer by this, ns
  std::uint64_t seed = 1;
};

/// A local clock and the network between it and the master's.
class Simulation {
 public:
  explicit Simulation(const World& world) : world_(world), random_(world.seed) {}

  [[nodiscard]] std::int64_t local(std::int64_t master) const {
    return master + world_.offset + std::llround(static_cast<double>(master - kStart) * world_.drift);
  }

  /// Adds the batch of `round_trips` that begins at `at`; returns when it ends. Both times are by the master's clock.
  std::int64_t batch(ClockFit& fit, std::int64_t at, int round_trips = 20) {
    for (int i = 0; i < round_trips; ++i) at = round_trip(fit, at);
    fit.end_batch();
    return at;
  }

  void set_outliers(double share) { world_.outliers = share; }
  void change_drift(std::int64_t at, double drift) {
    world_.offset = local(at) - at - std::llround(static_cast<double>(at - kStart) * drift);
    world_.drift = drift;
  }

 private:
  std::int64_t round_trip(ClockFit& fit, std::int64_t sent) {
    std::int64_t there = delay() + world_.asymmetry;
    std::int64_t back = delay();
    if (std::bernoulli_distribution(world_.outliers)(random_)) (random_() % 2 == 0 ? there : back) += 200 * kDelay;
    const std::int64_t received = sent + there + back;
    fit.add({sent, local(sent + there), received});
    return received;
  }

  std::int64_t delay() {
    if (world_.jitter == 0) return kDelay;
    return kDelay + std::llround(std::exponential_distribution(1 / world_.jitter)(random_));
  }

  World world_;
  std::mt19937_64 random_;
};

double error(const Simulation& simulation, const ClockFit& fit, std::int64_t master) {
  return std::abs(static_cast<double>(to_master(fit.model(), simulation.local(master)) - master));
}

class EveryWorld : public testing::TestWithParam<World> {};

// From the first batch on, checks at each batch and until the next one.
TEST_P(EveryWorld, IsAsPreciseAsItSays) {
  Simulation simulation(GetParam());
  ClockFit fit;
  std::int64_t at = kStart;
  for (int i = 0; i < 100; ++i) {
    const std::int64_t end = simulation.batch(fit, at);
    const std::int64_t next = at + kSecond;
    for (const std::int64_t time : {at, end, (end + next) / 2, next}) {
      EXPECT_LE(error(simulation, fit, time), fit.quality(time).precision_ns) << "batch " << i;
      EXPECT_LE(error(simulation, fit, time), fit.quality(next).precision_ns) << "batch " << i;
    }
    at = next;
  }
}

TEST_P(EveryWorld, IsNearlyAsPreciseAsTheShortestRoundTripAllows) {
  const World world = GetParam();
  const auto half = static_cast<double>(2 * kDelay + world.asymmetry) / 2;
  Simulation simulation(world);
  ClockFit fit;
  std::int64_t at = kStart;
  simulation.batch(fit, at);
  EXPECT_LE(fit.quality(at + kSecond / 1000).precision_ns, 1.5 * half + 600) << "one batch, then 1 ms";
  for (int i = 0; i < 20; ++i) simulation.batch(fit, at += kSecond);
  const auto quality = fit.quality(at + kSecond);
  EXPECT_LE(quality.precision_ns, 2 * half);
  EXPECT_LE(quality.residual_ns, 0.2 * half);
  const double rate_ppm = (1 / (1 + world.drift) - 1) * 1e6;
  EXPECT_LE(quality.rate_error_ppm, 0.5);
  EXPECT_NEAR(quality.rate_ppm, rate_ppm, 0.1);
  EXPECT_NEAR(quality.rate_ppm, rate_ppm, quality.rate_error_ppm);
  const std::int64_t t0 = fit.model().t0;
  EXPECT_EQ(quality.offset_ns, static_cast<double>(to_master(fit.model(), t0) - t0));
  EXPECT_EQ(quality.round_trips, 21U * 20);
}

INSTANTIATE_TEST_SUITE_P(
    All, EveryWorld,
    testing::Values(World{}, World{.offset = 7 * kHour}, World{.offset = -3 * kHour, .drift = 200e-6},
                    World{.drift = -200e-6}, World{.jitter = 300}, World{.outliers = 0.2}, World{.asymmetry = 2000},
                    World{.offset = 2 * kHour, .drift = 150e-6, .jitter = 300, .outliers = 0.2, .seed = 2},
                    World{.offset = 9 * kHour, .drift = -200e-6, .jitter = 500, .outliers = 0.2, .seed = 3},
                    World{
                        .offset = -kHour, .drift = 1e-6, .jitter = 100, .outliers = 0.2, .asymmetry = 500, .seed = 4}));

// Batches as after a start: each when the time since the first one has doubled.
TEST(ClockFit, NeverGetsMuchWorseWhileTheRateIsUnknown) {
  Simulation simulation({.offset = kHour, .drift = 200e-6, .jitter = 200, .outliers = 0.2});
  ClockFit fit;
  std::int64_t at = simulation.batch(fit, kStart);
  for (std::int64_t gap = kSecond / 1000; gap < kSecond; gap *= 2) {
    const std::int64_t next = at + gap;
    EXPECT_LE(fit.quality(next).precision_ns, 6 * kDelay) << "gap " << gap;
    EXPECT_LE(error(simulation, fit, next), fit.quality(next).precision_ns) << "gap " << gap;
    at = simulation.batch(fit, next);
  }
}

TEST(ClockFit, IsNotSpoilledByABatchOfOutliersOnly) {
  Simulation simulation({.offset = kHour, .drift = 100e-6, .jitter = 200});
  ClockFit fit;
  std::int64_t at = kStart;
  for (int i = 0; i < 10; ++i) simulation.batch(fit, at += kSecond);
  const auto before = fit.quality(at + kSecond);
  simulation.set_outliers(1);
  simulation.batch(fit, at += kSecond);
  EXPECT_LE(error(simulation, fit, at), fit.quality(at).precision_ns);
  EXPECT_LE(error(simulation, fit, at), 2 * kDelay);
  EXPECT_LE(fit.quality(at).precision_ns, 2 * before.precision_ns);
  EXPECT_NEAR(fit.quality(at).rate_ppm, before.rate_ppm, 0.1);
}

TEST(ClockFit, RecoversFromAFirstBatchOfOutliersOnly) {
  Simulation simulation({.offset = kHour, .drift = -100e-6, .jitter = 200, .outliers = 1});
  ClockFit fit;
  simulation.batch(fit, kStart);
  EXPECT_LE(error(simulation, fit, kStart), fit.quality(kStart).precision_ns);
  simulation.set_outliers(0);
  for (int i = 1; i <= 3; ++i) simulation.batch(fit, kStart + i * kSecond);
  EXPECT_LE(fit.quality(kStart + 4 * kSecond).precision_ns, 5 * kDelay);
  EXPECT_LE(error(simulation, fit, kStart + 4 * kSecond), fit.quality(kStart + 4 * kSecond).precision_ns);
}

// No line fits, but the uncertainty stated at the batches must hold all the same.
TEST(ClockFit, StaysTrueAtTheBatchesWhenTheDriftChanges) {
  Simulation simulation({.offset = kHour, .drift = 10e-6, .jitter = 200});
  ClockFit fit;
  std::int64_t at = kStart;
  for (int i = 0; i < 30; ++i) simulation.batch(fit, at += kSecond);
  simulation.change_drift(at, 40e-6);
  for (int i = 0; i < 200; ++i) {
    const std::int64_t end = simulation.batch(fit, at += kSecond);
    EXPECT_LE(error(simulation, fit, end), fit.quality(end).precision_ns) << "batch " << i;
  }
  EXPECT_LE(fit.quality(at + kSecond).precision_ns, 2 * kDelay) << "and the old drift is forgotten";
}

TEST(ClockFit, GivesMoreAwayTheLaterTheNextBatch) {
  Simulation simulation({.jitter = 200});
  ClockFit fit;
  EXPECT_EQ(fit.quality(kStart).precision_ns, std::numeric_limits<double>::infinity());
  const std::int64_t end = simulation.batch(fit, kStart);
  const auto quality = fit.quality(end);
  EXPECT_NEAR(fit.quality(end + kSecond).precision_ns - quality.precision_ns, quality.rate_error_ppm * 1000, 1e-3);
  EXPECT_GE(quality.rate_error_ppm, 200) << "one batch does not determine the rate";
}

TEST(ClockFit, LeavesOutWhatIsNoRoundTrip) {
  ClockFit fit;
  fit.end_batch();
  fit.add({100, 5000, 50});
  fit.end_batch();
  EXPECT_EQ(fit.quality(0).round_trips, 0U);
  EXPECT_EQ(to_master(fit.model(), 12345), 12345);
  fit.add({100, 5000, 100});
  fit.end_batch();
  EXPECT_EQ(to_master(fit.model(), 5000), 100);
}

TEST(ClockModel, InvertsItself) {
  std::mt19937_64 random(5);
  for (const double ppm : {-200.0, -0.3, 0.0, 17.0, 200.0}) {
    const ClockModel model{-3 * kHour, 1 + ppm * 1e-6, 50 * kHour};
    for (int i = 0; i < 1000; ++i) {
      const auto since = static_cast<std::int64_t>(random() % (48 * kHour)) - 24 * kHour;
      const std::int64_t t = model.t0 + since;
      EXPECT_NEAR(static_cast<double>(to_local(model, to_master(model, t)) - t), 0, 1);
      const auto expected = static_cast<long double>(since) * static_cast<long double>(model.coef) + model.shift;
      EXPECT_NEAR(static_cast<double>(static_cast<long double>(to_master(model, t)) - expected), 0, 1);
    }
  }
}

}  // namespace
}  // namespace eventloom
