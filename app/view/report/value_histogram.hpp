#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace eventloom {

/// Counts in bins [edges[i], edges[i + 1]).
struct Bins {
  std::vector<std::uint64_t> edges;  ///< one more than counts; empty without entries
  std::vector<std::uint64_t> counts;
  bool log = false;  ///< whether to use a logarithmic axis: the range is wide and bins widen with the value
};

/// Distribution of integers in constant memory (120 kB), independent of their number.
///
/// Numbers below 256 have one bin each; above, each power of two is divided into 128 bins. Count, sum, minimum and
/// maximum are exact, the sum to the precision of a double.
class ValueHistogram {
 public:
  ValueHistogram();

  void add(std::uint64_t value);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// mean(), least() and greatest() return 0 without entries.
  [[nodiscard]] double mean() const;
  [[nodiscard]] std::uint64_t least() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::uint64_t greatest() const { return greatest_; }

  /// Returns the smallest value not exceeded by a fraction `p` > 0 of all values, to within the width of a bin.
  [[nodiscard]] std::uint64_t quantile(double p) const;
  /// Number and sum of the values from `from` on. `from` is rounded up to the edge of a bin.
  struct Tail {
    std::uint64_t from = 0;
    std::uint64_t count = 0;
    double sum = 0;
  };
  [[nodiscard]] Tail tail(std::uint64_t from) const;

  /// Returns the range of the values in at most `most` (at least 16) bins of equal width. If the maximum exceeds 50
  /// times the minimum, bins widen in proportion to the value: 1 to 8 per power of two, as `most` allows. Each bin is a
  /// sum of internal bins, so no entry changes its value.
  [[nodiscard]] Bins bins(std::size_t most) const;
  /// Returns the bins of the monitor's histograms that have entries, and those between them.
  [[nodiscard]] Bins monitor_bins() const;

 private:
  std::vector<std::uint64_t> counts_;
  std::vector<double> sums_;
  std::uint64_t count_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t greatest_ = 0;
};

/// Fit to the times between random events, which are distributed as r exp(-r (t - from)) from some time on: its
/// parameters, and its prediction.
struct ExponentialFit {
  std::uint64_t from = 0;     ///< shorter times are ignored
  std::uint64_t entries = 0;  ///< times that were used
  double rate = 0;            ///< r, per unit of the values
  double error = 0;           ///< standard error of the rate
  std::vector<double> curve;  ///< expected entries per bin
};

/// Maximum-likelihood fit to the entries of `times` not below `from`, which is rounded up to the edge of a bin. There
/// must be at least one such entry. The entries are integers, differences of times rounded down, so t - from is
/// geometric with mean m = 1 / (exp(r) - 1). Hence r = log(1 + 1 / m), or 1 / m for fine ticks. The second derivative
/// of the likelihood gives the standard error 2 sinh(r / 2) / sqrt(n). The expected content of bin [a, b) is n (exp(-r
/// (a - from)) - exp(-r (b - from))).
ExponentialFit fit_exponential(const ValueHistogram& times, std::uint64_t from, const Bins& bins);

}  // namespace eventloom
