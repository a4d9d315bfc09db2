#include "io/serve/mbs_sender_pacer.hpp"

#include <cmath>
#include <utility>

namespace eventloom {

namespace {

constexpr double kNsPerSecond = 1e9;
constexpr Tick kLongestGap = Tick{3600} * 1'000'000'000;

}  // namespace

void MbsPacer::start(std::int64_t now) {
  last_due_ = now;
  fraction_ = 0;
  last_time_.reset();
  started_ = false;
}

/// Nanoseconds from the previous event to this one.
double MbsPacer::step(std::optional<Tick> time) {
  if (pace_.rate > 0) return started_ ? kNsPerSecond / pace_.rate : 0;
  if (pace_.speed <= 0 || !time) return 0;
  const auto before = std::exchange(last_time_, time);
  if (!before) return 0;
  if (*time < *before || *time - *before > kLongestGap) {
    ++jumps_;
    return 0;
  }
  return static_cast<double>(*time - *before) / pace_.speed;
}

std::int64_t MbsPacer::due(std::optional<Tick> time) {
  fraction_ += step(time);
  started_ = true;
  const double whole = std::floor(fraction_);
  fraction_ -= whole;
  last_due_ += static_cast<std::int64_t>(whole);
  return last_due_;
}

}  // namespace eventloom
