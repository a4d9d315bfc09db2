#pragma once

#include <cstdint>
#include <vector>

namespace eventloom {

/// One transfer over the network; seconds since the start.
struct Transfer {
  int from = 0;  ///< rank
  int to = 0;    ///< rank
  double begin = 0;
  double end = 0;
  std::uint64_t bytes = 0;
};

/// Distribution of times; seconds.
struct TimeSpread {
  std::uint64_t n = 0;
  double mean = 0;
  double deviation = 0;  ///< standard deviation
  double min = 0;
  double p99 = 0;
  double max = 0;
};
TimeSpread spread_of(std::vector<double> times);

/// Durations between the put and the arrival of the last byte.
TimeSpread transfer_times(const std::vector<Transfer>& transfers);

/// Arrival at the builders of the pieces of slices, one piece from each source on another node.
struct SliceArrivals {
  double deviation = 0;  ///< standard deviation within a slice; root mean square over all slices
  TimeSpread span;       ///< time between the first and the last piece of a slice
};

/// Lengths of the pieces that builders have built, slice by slice.
class BuiltPieces {
 public:
  explicit BuiltPieces(std::uint32_t ranks) : ranks_(ranks), lengths_(std::size_t{ranks} * ranks) {}
  /// Call in ascending order of slices for each builder, for all sources of a slice.
  void add(std::uint32_t source, std::uint32_t builder, std::uint64_t bytes) {
    lengths_[source * ranks_ + builder].push_back(bytes);
  }
  /// `transfers`: in order for each pair of ranks. They are matched to pieces by their share of all bytes between the
  /// two ranks, since they also carry headers, and may carry several pieces or parts of them.
  [[nodiscard]] SliceArrivals arrivals(const std::vector<Transfer>& transfers) const;

 private:
  using Times = std::vector<std::vector<double>>;
  [[nodiscard]] Times times_at(std::uint32_t builder, const std::vector<std::vector<Transfer>>& of_pairs) const;

  std::uint32_t ranks_;
  std::vector<std::vector<std::uint64_t>> lengths_;  ///< [source * ranks + builder]: by slice of the builder
};

}  // namespace eventloom
