#include "io/generator/point_process.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/runtime/did_you_mean.hpp"
#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

Tick to_tick(double time) { return time < 0x1p64 ? static_cast<Tick>(time) : std::numeric_limits<Tick>::max(); }

}  // namespace

double uniform(RandomEngine& engine) { return static_cast<double>(engine() >> 11) * 0x1p-53; }

/// Von Neumann 1951: among falling runs of uniform numbers, those of odd length begin with x with a probability
/// proportional to exp(-x); each run of even length adds 1. Needs no logarithm.
double exponential(RandomEngine& engine) {
  for (double whole = 0;; whole += 1) {
    const double first = uniform(engine);
    double last = first;
    bool odd = true;
    for (double next = uniform(engine); next < last; next = uniform(engine)) {
      last = next;
      odd = !odd;
    }
    if (odd) return whole + first;
  }
}

/// Rejection sampling from the exponential: exp(-x^2/2) is proportional to exp(-x) * exp(-(x-1)^2/2).
double normal(RandomEngine& engine) {
  for (;;) {
    const double x = exponential(engine);
    if (exponential(engine) < (x - 1) * (x - 1) / 2) continue;
    return (engine() >> 63) != 0 ? -x : x;
  }
}

std::uint32_t uniform_below(RandomEngine& engine, std::uint32_t bound) {
  return static_cast<std::uint32_t>(((engine() >> 32) * bound) >> 32);
}

std::uint64_t poisson_number(RandomEngine& engine, double mean) {
  std::uint64_t n = 0;
  for (double sum = exponential(engine); sum < mean; sum += exponential(engine)) ++n;
  return n;
}

PointProcess::PointProcess(std::string_view timing, double spacing) : timing_(Timing::equal), spacing_(spacing) {
  static constexpr std::array<std::pair<std::string_view, Timing>, 4> kTimings = {{{"static", Timing::equal},
                                                                                   {"gaussian", Timing::gaussian},
                                                                                   {"poisson", Timing::poisson},
                                                                                   {"burst", Timing::burst}}};
  const auto* const found = std::ranges::find(kTimings, timing, [](const auto& item) { return item.first; });
  if (found == kTimings.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, kind] : kTimings) names.push_back(name);
    throw UserError("'" + std::string(timing) + "' is not a timing" + did_you_mean(timing, names) +
                    "; there are static, gaussian, poisson, burst");
  }
  timing_ = found->second;
}

Tick PointProcess::next(RandomEngine& engine) {
  switch (timing_) {
    case Timing::equal: time_ = static_cast<double>(count_) * spacing_; break;
    case Timing::gaussian: time_ += std::max(0.0, spacing_ * (1 + normal(engine) / 4)); break;
    case Timing::poisson: time_ += spacing_ * exponential(engine); break;
    case Timing::burst: return to_tick(next_in_burst(engine));
  }
  ++count_;
  return to_tick(time_);
}

/// Bunches may overlap: a time is delivered once no later bunch can precede it.
double PointProcess::next_in_burst(RandomEngine& engine) {
  if (count_ == 0) time_ = kBurstTimes * spacing_ * exponential(engine);
  while (begun_.empty() || begun_.front() >= time_) {
    for (int i = 0; i < kBurstTimes; ++i) {
      begun_.push_back(time_ + kBurstTicks * uniform(engine));
      std::ranges::push_heap(begun_, std::greater());
    }
    time_ += kBurstTimes * spacing_ * exponential(engine);
  }
  ++count_;
  std::ranges::pop_heap(begun_, std::greater());
  const double time = begun_.back();
  begun_.pop_back();
  return time;
}

}  // namespace eventloom
