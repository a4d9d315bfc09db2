#include "app/tools/align/coincidence_peak.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace eventloom {

namespace {

struct Stretch {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

double sum_of(std::span<const std::uint32_t> counts, Stretch of) {
  const auto part = counts.subspan(of.begin, of.size());
  return static_cast<double>(std::accumulate(part.begin(), part.end(), std::uint64_t{0}));
}

/// Standard deviations by which a Poisson count exceeds a known background (Li and Ma, ApJ 272 (1983) 317, for an exact
/// background; Cowan et al., EPJ C 71 (2011) 1554, equation 97). A Gaussian would see peaks in small backgrounds.
double significance(double sum, double background) {
  const double expected = std::max(background, 1e-3);
  if (sum <= expected) return 0;
  return std::sqrt(2 * (sum * std::log(sum / expected) - (sum - expected)));
}

/// The stretch, of a power of two bins up to a quarter of all, that stands out most above the mean of all bins.
Stretch most_significant(std::span<const std::uint32_t> counts, double background) {
  Stretch best{0, 1};
  double most = -1;
  for (std::size_t length = 1; length <= std::max<std::size_t>(counts.size() / 4, 1); length *= 2) {
    double sum = sum_of(counts, {0, length});
    for (std::size_t begin = 0;; ++begin) {
      const double found = significance(sum, background * static_cast<double>(length));
      if (found > most) {
        most = found;
        best = {begin, begin + length};
      }
      if (begin + length == counts.size()) break;
      sum += static_cast<double>(counts[begin + length]) - static_cast<double>(counts[begin]);
    }
  }
  return best;
}

/// Mean of the bins outside a stretch.
double background_outside(std::span<const std::uint32_t> counts, Stretch peak) {
  const auto others = static_cast<double>(counts.size() - peak.size());
  return others == 0 ? 0 : (sum_of(counts, {0, counts.size()}) - sum_of(counts, peak)) / others;
}

/// The moments of the counts above the background in a stretch.
CoincidencePeak moments(std::span<const std::uint32_t> counts, const DifferenceBins& bins, Stretch in,
                        double background) {
  CoincidencePeak peak;
  for (std::size_t i = in.begin; i < in.end; ++i) {
    const double above = counts[i] - background;
    peak.signal += above;
    peak.mean += above * bins.centre(i);
  }
  if (peak.signal <= 0) return {};
  peak.mean /= peak.signal;
  double square = 0;
  double noise = 0;
  for (std::size_t i = in.begin; i < in.end; ++i) {
    const double off = bins.centre(i) - peak.mean;
    square += (counts[i] - background) * off * off;
    noise += counts[i] * off * off;
  }
  const auto step = static_cast<double>(bins.width);
  const double in_bin = step * step / 12;  // variance of a uniform distribution over a bin
  peak.width = std::sqrt(std::max(square / peak.signal, 0.0));
  peak.half = 3.5 * peak.width + step;
  peak.error = std::sqrt(noise / (peak.signal * peak.signal) + in_bin / peak.signal);
  return peak;
}

Stretch around(const CoincidencePeak& peak, const DifferenceBins& bins) {
  const auto bin_at = [&](double ticks) {
    const double bin = (ticks + static_cast<double>(bins.reach)) / static_cast<double>(bins.width);
    return static_cast<std::size_t>(std::clamp(bin, 0.0, static_cast<double>(bins.bins - 1)));
  };
  return {bin_at(peak.mean - peak.half), bin_at(peak.mean + peak.half) + 1};
}

}  // namespace

std::optional<CoincidencePeak> find_peak(std::span<const std::uint32_t> counts, const DifferenceBins& bins) {
  constexpr int kRounds = 8;
  const double mean = sum_of(counts, {0, counts.size()}) / static_cast<double>(counts.size());
  Stretch in = most_significant(counts, mean);
  CoincidencePeak peak;
  for (int round = 0; round < kRounds; ++round) {
    const double background = background_outside(counts, in);
    peak = moments(counts, bins, in, background);
    if (peak.signal < kLeastSignal) return std::nullopt;
    if (significance(sum_of(counts, in), background * static_cast<double>(in.size())) < kLeastSignificance)
      return std::nullopt;
    in = around(peak, bins);
  }
  return peak;
}

}  // namespace eventloom
