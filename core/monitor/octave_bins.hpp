#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace eventloom {

/// Bins for nonnegative numbers: one per number below 2^kWholeBits, then 2^kFineBits per power of two.
template <unsigned kWholeBits, unsigned kFineBits>
struct OctaveBins {
  static_assert(kFineBits <= kWholeBits);
  static constexpr std::size_t kWhole = std::size_t{1} << kWholeBits;  ///< smaller numbers have their own bins
  static constexpr std::size_t kPerOctave = std::size_t{1} << kFineBits;
  static constexpr std::size_t kBins = kWhole + (64 - kWholeBits) * kPerOctave;

  static constexpr std::size_t bin_of(std::uint64_t value) {
    if (value < kWhole) return value;
    const auto power = static_cast<std::size_t>(std::bit_width(value)) - 1;
    return kWhole + (power - kWholeBits) * kPerOctave + (value >> (power - kFineBits)) % kPerOctave;
  }
  /// The lowest number in a bin.
  static constexpr std::uint64_t begin_of(std::size_t bin) {
    return bin < kWhole ? bin : (kPerOctave + (bin - kWhole) % kPerOctave) << shift_of(bin);
  }
  /// The number of numbers in a bin.
  static constexpr std::uint64_t width_of(std::size_t bin) {
    return bin < kWhole ? 1 : std::uint64_t{1} << shift_of(bin);
  }

 private:
  /// Requires `bin` >= kWhole.
  static constexpr std::size_t shift_of(std::size_t bin) {
    const auto power = std::min<std::size_t>((bin - kWhole) / kPerOctave + kWholeBits, 63);
    return power - kFineBits;
  }
};

}  // namespace eventloom
