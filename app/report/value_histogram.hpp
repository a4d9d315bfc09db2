#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eventloom {

/// Counts in bins [edges[i], edges[i + 1]).
struct Bins {
  std::vector<std::uint64_t> edges;  ///< one more than counts; none without entries
  std::vector<std::uint64_t> counts;
  bool log = false;  ///< the values span so much that their axis is to be logarithmic: the bins widen with the value
};

/// Distribution of whole numbers in constant memory (60 kB), however many are added.
///
/// Numbers below 256 have a bin each; above, each power of two is divided into 128 bins. Count, sum, least and greatest
/// are exact (the sum as far as a double is).
class ValueHistogram {
 public:
  ValueHistogram();

  void add(std::uint64_t value);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// 0 without entries, as are the others.
  [[nodiscard]] double mean() const;
  [[nodiscard]] std::uint64_t least() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::uint64_t greatest() const { return greatest_; }

  /// The range that holds values, in at most `most` bins (at least 16) of equal width. Where the greatest value is over
  /// 50 times the least, bins widen in proportion: 1 to 8 for each power of two, as `most` allows. They are sums of the
  /// bins above: nothing is moved.
  [[nodiscard]] Bins bins(std::size_t most) const;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t greatest_ = 0;
};

/// Times between events that follow one another at random are distributed as r exp(-r t): the parameters of this, and
/// what it predicts for `bins`.
struct ExponentialFit {
  double rate = 0;            ///< r, per unit of the values
  double error = 0;           ///< its standard error
  std::vector<double> curve;  ///< expected entries in each bin
};

/// Maximum likelihood for `n` times t, at least one, of this mean, above 0: the log of the likelihood, n log r - r
/// sum(t), has its maximum at r = n / sum(t) = 1 / mean, and the second derivative there gives the standard error r /
/// sqrt(n). Bin [a, b) then expects n (exp(-r a) - exp(-r b)).
ExponentialFit fit_exponential(std::uint64_t n, double mean, const Bins& bins);

}  // namespace eventloom
