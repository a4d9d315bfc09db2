#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace eventloom {

/// A hit of a unit; time in ticks.
struct UnitHit {
  std::int64_t time = 0;
  std::uint32_t unit = 0;
};

/// Equal bins around time difference 0, in ticks. Bin i holds differences from low() + i * width on.
struct DifferenceBins {
  std::int64_t reach = 0;  ///< differences from -reach to reach are counted
  std::int64_t width = 1;
  std::size_t bins = 0;

  /// At most `most` bins that cover -reach to reach.
  static DifferenceBins over(std::int64_t reach, std::size_t most);
  /// Mean of the whole numbers of ticks in a bin.
  [[nodiscard]] double centre(std::size_t bin) const {
    return static_cast<double>(-reach) + static_cast<double>(bin) * static_cast<double>(width) +
           static_cast<double>(width - 1) / 2;
  }
};

/// Counts of the time differences between the hits of pairs of units: time of the second minus that of the first.
///
/// If there are more than 128 units, only some pairs are formed, to limit the memory: unit i pairs with the next 16
/// units and with those at distances of powers of two, so that all units are connected.
class PairHistograms {
 public:
  PairHistograms(std::size_t units, std::int64_t reach, std::size_t stretches);

  /// Hits in ascending time, after those of earlier calls. `stretch`: part of the recording that they belong to.
  void add(std::span<const UnitHit> hits, std::size_t stretch);

  [[nodiscard]] const DifferenceBins& bins() const { return bins_; }
  [[nodiscard]] std::size_t pairs() const { return pairs_.size(); }
  /// The units of a pair, the lower one first.
  [[nodiscard]] std::pair<std::uint32_t, std::uint32_t> units(std::size_t pair) const { return pairs_[pair]; }
  [[nodiscard]] std::span<const std::uint32_t> counts(std::size_t pair) const {
    return std::span(counts_).subspan(pair * bins_.bins, bins_.bins);
  }
  /// Number and sum (ticks) of the differences of a pair in one stretch of the recording.
  struct Sum {
    std::uint64_t n = 0;
    std::int64_t ticks = 0;
  };
  [[nodiscard]] std::span<const Sum> sums(std::size_t pair) const {
    return std::span(sums_).subspan(pair * stretches_, stretches_);
  }
  /// Counts of all pairs together.
  [[nodiscard]] std::vector<std::uint64_t> total() const;

 private:
  static constexpr std::uint32_t kNoPair = ~std::uint32_t{0};

  void make_pairs();
  void add_pair(const UnitHit& earlier, const UnitHit& later, std::size_t stretch);

  std::size_t units_;
  std::size_t stretches_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs_;
  std::vector<std::uint32_t> pair_of_;  ///< index: lower unit * units_ + higher unit
  DifferenceBins bins_;
  std::vector<std::uint32_t> counts_;
  std::vector<Sum> sums_;
  std::vector<UnitHit> recent_;  ///< hits within reach of the next one, ascending; others may be among them
};

}  // namespace eventloom
