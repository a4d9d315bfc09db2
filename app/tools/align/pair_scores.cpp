#include "app/tools/align/pair_scores.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

PairScores::PairScores(std::size_t units, std::span<const PairDifference> differences,
                       std::span<const CoincidencePeak> peaks, std::int64_t bin_width)
    : units_(units),
      peak_of_(units * units, kNoPeak),
      sums_(units),
      covariance_(units * units),
      of_bins_(units * units) {
  const auto step = static_cast<double>(bin_width);
  const double in_bin = step * step / 12;  // variance of a uniform distribution over a bin
  for (std::size_t i = 0; i < differences.size(); ++i) {
    const auto& pair = differences[i];
    if (!pair.used) continue;
    const double weight = 1 / (pair.error * pair.error);
    peak_of_[pair.first * units_ + pair.second] = static_cast<std::uint32_t>(peaks_.size());
    peaks_.push_back({peaks[i].mean, peaks[i].half, weight / peaks[i].signal});
    reach_ = std::max<std::int64_t>(reach_, std::llround(std::abs(peaks[i].mean) + peaks[i].half) + 1);
    const double variance = weight * weight * in_bin / peaks[i].signal;
    of_bins_[pair.first * units_ + pair.first] += variance;
    of_bins_[pair.second * units_ + pair.second] += variance;
    of_bins_[pair.first * units_ + pair.second] -= variance;
    of_bins_[pair.second * units_ + pair.first] -= variance;
  }
}

void PairScores::add_pair(const UnitHit& earlier, const UnitHit& later) {
  const bool rises = earlier.unit < later.unit;
  const auto low = rises ? earlier.unit : later.unit;
  const auto high = rises ? later.unit : earlier.unit;
  const auto peak = peak_of_[low * units_ + high];
  if (peak == kNoPeak) return;
  const auto& [mean, half, per_tick] = peaks_[peak];
  const double off = static_cast<double>(rises ? later.time - earlier.time : earlier.time - later.time) - mean;
  if (std::abs(off) > half) return;
  sums_[high] += per_tick * off;
  sums_[low] -= per_tick * off;
  summed_.push_back(low);
  summed_.push_back(high);
}

/// If hits follow each other without a pause, a cluster ends nevertheless when it is much longer than the events: few
/// events lie on its ends.
void PairScores::add(std::span<const UnitHit> hits) {
  constexpr std::int64_t kLongest = 64;
  const std::size_t before = recent_.size();
  recent_.insert(recent_.end(), hits.begin(), hits.end());
  std::size_t first = 0;
  for (std::size_t i = before; i < recent_.size(); ++i) {
    const auto time = recent_[i].time;
    if (time - last_ > reach_ || time - cluster_begin_ > kLongest * reach_) {
      close_cluster();
      cluster_begin_ = time;
    }
    last_ = time;
    while (time - recent_[first].time > reach_) ++first;
    for (std::size_t j = first; j < i; ++j) add_pair(recent_[j], recent_[i]);
  }
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(first));
}

void PairScores::close_cluster() {
  if (summed_.empty()) return;
  std::ranges::sort(summed_);
  summed_.erase(std::unique(summed_.begin(), summed_.end()), summed_.end());
  for (const auto a : summed_) {
    for (const auto b : summed_) covariance_[a * units_ + b] += sums_[a] * sums_[b];
  }
  for (const auto unit : summed_) sums_[unit] = 0;
  summed_.clear();
  ++clusters_;
}

/// The sums of all clusters add up to 0, as the means come from the same differences: hence the n - 1.
std::vector<double> PairScores::covariance() {
  close_cluster();
  const auto n = static_cast<double>(std::max<std::uint64_t>(clusters_, 2));
  for (std::size_t i = 0; i < covariance_.size(); ++i) covariance_[i] = covariance_[i] * n / (n - 1) + of_bins_[i];
  return std::move(covariance_);
}

}  // namespace eventloom
