#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/monitor/octave_bins.hpp"

namespace eventloom {

/// Counts nonnegative numbers in bins of increasing width: one per number up to 127, then four per power of two, so
/// that a bin spans at most a quarter of its value; also their sum. Cheap enough for every event. Not thread-safe.
class LogHistogram : public OctaveBins<7, 2> {
 public:
  void add(std::uint64_t value) {
    ++counts_[bin_of(value)];
    sum_ += value;
  }
  void add(const LogHistogram& other) {
    for (std::size_t i = 0; i < kBins; ++i) counts_[i] += other.counts_[i];
    sum_ += other.sum_;
  }
  [[nodiscard]] std::uint64_t& operator[](std::size_t bin) { return counts_[bin]; }
  [[nodiscard]] std::uint64_t operator[](std::size_t bin) const { return counts_[bin]; }
  [[nodiscard]] std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const auto n : counts_) sum += n;
    return sum;
  }
  /// Sum of the numbers.
  [[nodiscard]] std::uint64_t sum() const { return sum_; }
  void set_sum(std::uint64_t sum) { sum_ = sum; }

 private:
  std::array<std::uint64_t, kBins> counts_{};
  std::uint64_t sum_ = 0;
};

}  // namespace eventloom
