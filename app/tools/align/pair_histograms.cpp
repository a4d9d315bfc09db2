#include "app/tools/align/pair_histograms.hpp"

#include <algorithm>

namespace eventloom {

namespace {

constexpr std::size_t kAllPairs = 128;  ///< up to this many units, all pairs are formed
constexpr std::size_t kNeighbours = 16;
constexpr std::size_t kMostBins = 4096;
constexpr std::size_t kLeastBins = 256;
constexpr std::size_t kCountsInMemory = std::size_t{64} << 20;  ///< 256 MiB

bool are_paired(std::size_t units, std::size_t apart) {
  return units <= kAllPairs || apart <= kNeighbours || (apart & (apart - 1)) == 0;
}

}  // namespace

DifferenceBins DifferenceBins::over(std::int64_t reach, std::size_t most) {
  const std::int64_t values = 2 * reach + 1;
  const auto limit = static_cast<std::int64_t>(most);
  const std::int64_t width = (values + limit - 1) / limit;
  return {reach, width, static_cast<std::size_t>((values + width - 1) / width)};
}

PairHistograms::PairHistograms(std::size_t units, std::int64_t reach, std::size_t stretches)
    : units_(units), stretches_(stretches) {
  make_pairs();
  const std::size_t most = std::clamp(kCountsInMemory / std::max<std::size_t>(pairs_.size(), 1), kLeastBins, kMostBins);
  bins_ = DifferenceBins::over(reach, most);
  counts_.resize(pairs_.size() * bins_.bins);
  sums_.resize(pairs_.size() * stretches_);
}

void PairHistograms::make_pairs() {
  pair_of_.assign(units_ * units_, kNoPair);
  for (std::size_t a = 0; a < units_; ++a) {
    for (std::size_t b = a + 1; b < units_; ++b) {
      if (!are_paired(units_, b - a)) continue;
      pair_of_[a * units_ + b] = static_cast<std::uint32_t>(pairs_.size());
      pairs_.emplace_back(static_cast<std::uint32_t>(a), static_cast<std::uint32_t>(b));
    }
  }
}

void PairHistograms::add_pair(const UnitHit& earlier, const UnitHit& later, std::size_t stretch) {
  const bool rises = earlier.unit < later.unit;
  const auto low = rises ? earlier.unit : later.unit;
  const auto high = rises ? later.unit : earlier.unit;
  const auto pair = pair_of_[low * units_ + high];
  if (pair == kNoPair) return;
  const std::int64_t apart = rises ? later.time - earlier.time : earlier.time - later.time;
  ++counts_[pair * bins_.bins + static_cast<std::size_t>((apart + bins_.reach) / bins_.width)];
  auto& sum = sums_[pair * stretches_ + stretch];
  ++sum.n;
  sum.ticks += apart;
}

void PairHistograms::add(std::span<const UnitHit> hits, std::size_t stretch) {
  const std::size_t before = recent_.size();
  recent_.insert(recent_.end(), hits.begin(), hits.end());
  std::size_t first = 0;
  for (std::size_t i = before; i < recent_.size(); ++i) {
    while (recent_[i].time - recent_[first].time > bins_.reach) ++first;
    for (std::size_t j = first; j < i; ++j) add_pair(recent_[j], recent_[i], stretch);
  }
  recent_.erase(recent_.begin(), recent_.begin() + static_cast<std::ptrdiff_t>(first));
}

std::vector<std::uint64_t> PairHistograms::total() const {
  std::vector<std::uint64_t> sum(bins_.bins);
  for (std::size_t i = 0; i < counts_.size(); ++i) sum[i % bins_.bins] += counts_[i];
  return sum;
}

}  // namespace eventloom
