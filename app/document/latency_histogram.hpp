#pragma once

#include <boost/histogram/axis/regular.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/runtime/json.hpp"

namespace eventloom {

/// Distribution of times in nanoseconds, in constant memory (22 kB) independent of their number.
///
/// Between 1 ns and 1000 s the bins are 0.99 % wide, which is the accuracy of the percentiles. Times outside this
/// range, including zero and negative ones, are counted in one bin on either side. Count, minimum, maximum and mean are
/// kept separately and are exact for all times.
class LatencyHistogram {
 public:
  LatencyHistogram();

  /// `ns` must be finite.
  void add(double ns);
  /// Equivalent to adding here everything that was added to `other`.
  void add(const LatencyHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// Nanoseconds; NaN without entries, as are mean and percentiles.
  [[nodiscard]] double min() const;
  [[nodiscard]] double max() const;
  [[nodiscard]] double mean() const;

  /// Returns the smallest time not exceeded by at least `p` % of all, p from 0 to 100. The result is never below the
  /// exact value, at most one bin above it, and within [min, max]. Below 1 ns it is min, above 1000 s it is max.
  [[nodiscard]] double percentile(double p) const;

  /// Number of times between `low` and `high`, in ns.
  struct Bin {
    double low = 0;
    double high = 0;
    std::uint64_t count = 0;
  };
  /// Returns the bins that are not empty, in ascending order, within [min, max].
  [[nodiscard]] std::vector<Bin> bins() const;
  /// Returns a histogram with these bins; its mean is accurate to the width of a bin.
  static LatencyHistogram from_bins(std::span<const Bin> bins);

  /// Serialises the whole histogram, to collect those of several ranks; unpack() returns an equal one. unpack() throws
  /// std::exception for input that packed() did not produce.
  [[nodiscard]] Json packed() const;
  static LatencyHistogram unpack(const Json& packed);

  /// {"count", "min_ns", "mean_ns", "p10_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "p9999_ns", "max_ns"}. Without
  /// entries, all members but the count are null.
  [[nodiscard]] Json to_json() const;

 private:
  using Axis = boost::histogram::axis::regular<double, boost::histogram::axis::transform::log>;
  using Counts = boost::histogram::histogram<std::tuple<Axis>, boost::histogram::dense_storage<std::uint64_t>>;

  Counts counts_;
  std::uint64_t count_ = 0;
  double sum_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

}  // namespace eventloom
