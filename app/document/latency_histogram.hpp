#pragma once

#include <boost/histogram/axis/regular.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace eventloom {

/// Distribution of times in nanoseconds, in constant memory (22 kB) however many are added.
///
/// Between 1 ns and 1000 s the bins are 0.99 % wide, which is the accuracy of the percentiles. Times outside, including
/// zero and negative ones, are counted without distinction. Count, minimum, maximum and mean are kept separately, and
/// are exact for all times.
class LatencyHistogram {
 public:
  LatencyHistogram();

  /// `ns` must be finite.
  void add(double ns);
  /// As if everything added to `other` had been added here.
  void add(const LatencyHistogram& other);

  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// In nanoseconds; not a number without entries, as are mean and percentiles.
  [[nodiscard]] double min() const;
  [[nodiscard]] double max() const;
  [[nodiscard]] double mean() const;

  /// The smallest time that at least `p` % of all do not exceed, p from 0 to 100: never below the exact one, at most a
  /// bin above it, within [min, max]. Below 1 ns it is min, above 1000 s it is max.
  [[nodiscard]] double percentile(double p) const;

  /// Times between `low` and `high`, in ns.
  struct Bin {
    double low = 0;
    double high = 0;
    std::uint64_t count = 0;
  };
  /// Those that are not empty, in rising order, within [min, max].
  [[nodiscard]] std::vector<Bin> bins() const;
  /// The histogram that has these bins; its mean is known to the width of a bin.
  static LatencyHistogram from_bins(std::span<const Bin> bins);

  /// All of it, to collect the histograms of ranks; unpack() returns an equal one. It throws std::exception for what
  /// packed() has not made.
  [[nodiscard]] nlohmann::json packed() const;
  static LatencyHistogram unpack(const nlohmann::json& packed);

  /// {"count", "min_ns", "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"}; all but the count are null
  /// without entries.
  [[nodiscard]] nlohmann::json to_json() const;

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
