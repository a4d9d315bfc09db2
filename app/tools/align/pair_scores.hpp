#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "app/tools/align/coincidence_peak.hpp"
#include "app/tools/align/pair_histograms.hpp"
#include "app/tools/align/pair_solution.hpp"

namespace eventloom {

/// The spread of the sums of the normal equations of solve_pairs(), from the hits themselves.
///
/// The differences of pairs are not independent: a hit takes part in as many as its event has other hits, and so does a
/// chance partner. Hits that lie close together therefore form a cluster, whose differences are summed; the clusters
/// are independent, and the scatter of their sums is that of the whole (the "sandwich" estimate of clustered data:
/// K.-Y. Liang and S. L. Zeger, Biometrika 73 (1986) 13).
class PairScores {
 public:
  /// `peaks`: those of the differences, in their order. Differences that are not used are left out.
  PairScores(std::size_t units, std::span<const PairDifference> differences, std::span<const CoincidencePeak> peaks,
             std::int64_t bin_width);

  /// Hits in ascending time, after those of earlier calls, with the times of which the peaks are.
  void add(std::span<const UnitHit> hits);
  /// The covariance of the sums, a square matrix by rows. Call once, after the last hits.
  std::vector<double> covariance();

 private:
  static constexpr std::uint32_t kNoPeak = ~std::uint32_t{0};

  struct Peak {
    double mean = 0;
    double half = 0;      ///< differences farther from the mean do not belong to it
    double per_tick = 0;  ///< added to the sums for each tick from the mean
  };

  void add_pair(const UnitHit& earlier, const UnitHit& later);
  void close_cluster();

  std::size_t units_;
  std::vector<Peak> peaks_;
  std::vector<std::uint32_t> peak_of_;  ///< index: lower unit * units_ + higher unit
  std::int64_t reach_ = 0;              ///< hits farther apart make no difference that counts
  std::vector<UnitHit> recent_;         ///< hits within reach of the next one, ascending; others may be among them
  std::int64_t cluster_begin_ = 0;
  std::int64_t last_ = 0;              ///< time of the last hit
  std::vector<double> sums_;           ///< the cluster's sums, indexed by unit
  std::vector<std::uint32_t> summed_;  ///< units of the cluster, perhaps several times
  std::uint64_t clusters_ = 0;         ///< clusters with any difference
  std::vector<double> covariance_;
  std::vector<double> of_bins_;  ///< share of the width of bins
};

}  // namespace eventloom
