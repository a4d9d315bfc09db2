#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace eventloom {

/// Counts nonnegative numbers in bins of increasing width: one per number up to 127, then four per power of two, so
/// that a bin spans at most a quarter of its value; also their sum. Cheap enough for every event. Not thread-safe.
class LogHistogram {
 public:
  static constexpr std::size_t kWhole = 128;  ///< smaller numbers have their own bins
  static constexpr std::size_t kBins = kWhole + (65 - std::bit_width(kWhole)) * 4;

  static constexpr std::size_t bin_of(std::uint64_t value) {
    if (value < kWhole) return value;
    const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
    return kWhole + (power - kFirstPower) * 4 + (value >> (power - 2) & 3);
  }
  /// The lowest number in a bin.
  static constexpr std::uint64_t begin_of(std::size_t bin) {
    if (bin < kWhole) return bin;
    const auto power = (bin - kWhole) / 4 + kFirstPower;
    return (4 + (bin - kWhole) % 4) << (power - 2);
  }

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
  static constexpr std::size_t kFirstPower = std::bit_width(kWhole) - 1;  ///< exponent of the first power of two with
                                                                          ///< wide bins

  std::array<std::uint64_t, kBins> counts_{};
  std::uint64_t sum_ = 0;
};

}  // namespace eventloom
