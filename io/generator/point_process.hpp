#pragma once

#include <cstdint>
#include <random>
#include <string_view>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// The C++ standard defines this engine's sequence. The functions below use only its bits and exact arithmetic, so that
/// a seed gives the same numbers on every machine, which the standard library's distributions do not guarantee.
using RandomEngine = std::mt19937_64;

/// Uniform in [0, 1), with 53 bits.
double uniform(RandomEngine& engine);
/// Exponential, mean 1.
double exponential(RandomEngine& engine);
/// Normal, mean 0, standard deviation 1.
double normal(RandomEngine& engine);
/// Uniform in [0, bound), `bound` at least 1.
std::uint32_t uniform_below(RandomEngine& engine, std::uint32_t bound);
/// Poisson; takes time proportional to `mean`.
std::uint64_t poisson_number(RandomEngine& engine, double mean);

/// Non-decreasing times of a random process of constant mean rate, from tick 0 on:
///   static    equal spacing; time k lies at floor(k * spacing)
///   gaussian  normal spacing with a standard deviation of a quarter of the mean, at least 0
///   poisson   exponential spacing
///   burst     bunches of kBurstTimes within kBurstTicks; the bunches begin like poisson
class PointProcess {
 public:
  static constexpr int kBurstTimes = 25;
  static constexpr int kBurstTicks = 100;

  /// `spacing`: mean distance between two times in ticks, above 0; need not be whole. Throws UserError that lists the
  /// known timings when the name is unknown.
  PointProcess(std::string_view timing, double spacing);

  /// The next time; the largest Tick when it does not fit.
  Tick next(RandomEngine& engine);

 private:
  enum class Timing { equal, gaussian, poisson, burst };

  double next_in_burst(RandomEngine& engine);

  Timing timing_;
  double spacing_;
  double time_ = 0;            ///< the last time; burst: start of the next bunch
  std::uint64_t count_ = 0;    ///< times delivered
  std::vector<double> begun_;  ///< burst: min-heap of the times of begun bunches
};

}  // namespace eventloom
