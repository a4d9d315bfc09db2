#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "app/tools/align/pair_histograms.hpp"

namespace eventloom {

/// The peak of coincident hits in a histogram of time differences, above a flat background of chance coincidences.
struct CoincidencePeak {
  double mean = 0;    ///< ticks
  double error = 0;   ///< standard error of the mean, ticks; includes the background's noise and the width of a bin
  double width = 0;   ///< standard deviation of the peak, ticks
  double signal = 0;  ///< differences above the background
  double half = 0;    ///< differences farther from the mean, ticks, do not belong to it
};

/// The most significant peak; std::nullopt if none has at least kLeastSignal differences above the background and
/// kLeastSignificance standard deviations of it.
std::optional<CoincidencePeak> find_peak(std::span<const std::uint32_t> counts, const DifferenceBins& bins);
inline constexpr double kLeastSignal = 16;
inline constexpr double kLeastSignificance = 7;

}  // namespace eventloom
