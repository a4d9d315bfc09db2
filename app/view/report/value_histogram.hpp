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

/// Distribution of whole numbers in constant memory (120 kB), however many are added.
///
/// Numbers below 256 have a bin each; above, each power of two is divided into 128 bins. Count, sum, least and greatest
/// are exact (sums as far as a double is).
class ValueHistogram {
 public:
  ValueHistogram();

  void add(std::uint64_t value);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// 0 without entries, as are the others.
  [[nodiscard]] double mean() const;
  [[nodiscard]] std::uint64_t least() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::uint64_t greatest() const { return greatest_; }

  /// The least value that at least a share `p` of all, above 0, does not exceed, to the width of a bin.
  [[nodiscard]] std::uint64_t quantile(double p) const;
  /// Values from `from` on, which is rounded up to the edge of a bin: their number and their sum.
  struct Tail {
    std::uint64_t from = 0;
    std::uint64_t count = 0;
    double sum = 0;
  };
  [[nodiscard]] Tail tail(std::uint64_t from) const;

  /// The range that holds values, in at most `most` bins (at least 16) of equal width. Where the greatest value is over
  /// 50 times the least, bins widen in proportion: 1 to 8 for each power of two, as `most` allows. They are sums of the
  /// bins above: nothing is moved.
  [[nodiscard]] Bins bins(std::size_t most) const;

 private:
  std::vector<std::uint64_t> counts_;
  std::vector<double> sums_;
  std::uint64_t count_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t greatest_ = 0;
};

/// Times between events that follow one another at random are distributed as r exp(-r (t - from)) from some time on:
/// the parameters of this, and what it predicts.
struct ExponentialFit {
  std::uint64_t from = 0;     ///< times below do not count
  std::uint64_t entries = 0;  ///< times that count
  double rate = 0;            ///< r, per unit of the values
  double error = 0;           ///< its standard error
  std::vector<double> curve;  ///< expected entries in each bin
};

/// Maximum likelihood for the times in `times` that are not below `from`, rounded up to the edge of a bin of it, of
/// which there must be some. They are whole numbers, differences of times rounded down: t - from is geometric, with
/// the mean m = 1 / (exp(r) - 1), so r = log(1 + 1 / m), which is 1 / m where ticks are fine. The second derivative of
/// the likelihood gives the standard error 2 sinh(r / 2) / sqrt(n). Bin [a, b) then expects
/// n (exp(-r (a - from)) - exp(-r (b - from))).
ExponentialFit fit_exponential(const ValueHistogram& times, std::uint64_t from, const Bins& bins);

}  // namespace eventloom
