#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/hdf5/column_reader.hpp"

namespace eventloom {

/// The rows of a dataset that have no value: rows that were never written, or that a virtual dataset does not map; and
/// numbers that equal one of the attributes `_FillValue` and `missing_value` (netCDF), or the fill value that the
/// writer chose for the dataset, unless that is 0 or a number of one byte. They are compared before ValueScale applies.
class MissingValues {
 public:
  /// All rows have values.
  MissingValues() = default;
  explicit MissingValues(const ColumnReader& column);

  [[nodiscard]] bool any() const { return unwritten_.any() || !integers_.empty() || !reals_.empty(); }
  /// Number of rows that were never written.
  [[nodiscard]] std::uint64_t unwritten() const { return unwritten_.count(); }
  /// Sets missing[i] for each of the rows `from` + i that has no value. `numbers`: those of the rows.
  void mark(std::uint64_t from, std::span<const std::uint64_t> numbers, std::vector<bool>& missing) const;
  void mark(std::uint64_t from, std::span<const double> numbers, std::vector<bool>& missing) const;

 private:
  void add(const ColumnReader& column, const StoredNumber& number);

  RowRanges unwritten_;
  std::vector<std::uint64_t> integers_;  ///< two's complement when negative
  std::vector<double> reals_;
};

}  // namespace eventloom
