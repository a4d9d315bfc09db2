#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/column_reader.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/recorded/decimal_scale.hpp"
#include "io/recorded/payload_bits.hpp"

namespace eventloom {

/// A dataset, or a field of a table, whose numbers are read block by block: which of the rows have a value, and what it
/// is with the attributes `scale_factor` and `add_offset` (CF conventions, netCDF), which count as the shortest decimal
/// numbers that their types hold apart: 1e-6 is a millionth.
///
/// A row has no value where it was never written, or a virtual dataset does not map it; where its number equals one of
/// the attributes `_FillValue` and `missing_value` (netCDF), or the fill value that the writer chose for the dataset,
/// unless that is 0 or a number of one byte; where it lies outside `valid_min` and `valid_max` or `valid_range`
/// (netCDF); and where it is a floating-point number that the column does not take. Numbers are compared as stored.
class ValueColumn {
 public:
  /// Which floating-point numbers are values.
  enum class Takes : std::uint8_t { all, all_but_nan, finite };

  /// Throws UserError when an attribute is no number, or most rows were never written, unless it takes all numbers.
  explicit ValueColumn(ColumnReader column, Takes takes = Takes::finite);

  [[nodiscard]] const ColumnReader& column() const { return column_; }
  [[nodiscard]] const DecimalScale& scale() const { return scale_; }
  /// Number of rows that were never written.
  [[nodiscard]] std::uint64_t unwritten() const { return unwritten_.count(); }
  /// Makes rows of chunks that are not in the file no errors, but rows without a value.
  void accept_unwritten() { column_.accept_unwritten(); }
  /// Whether rows without a value are known from the attributes or the layout.
  [[nodiscard]] bool may_lack() const { return may_lack_; }

  /// Reads the rows [from, from + n), to which the numbers `i` below refer. Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n);
  /// Flags of the rows without a value; empty when all have one.
  [[nodiscard]] const std::vector<bool>& missing() const { return missing_; }
  [[nodiscard]] bool lacks(std::size_t i) const { return !missing_.empty() && missing_[i]; }
  /// Marks the rows without a value as lost.
  void mark(LostRows& lost) const { lost.mark(missing_, column_.name()); }

  /// The numbers as stored, of a column of integers (two's complement when negative) or of floating-point numbers.
  [[nodiscard]] std::span<std::uint64_t> integers() { return integers_; }
  [[nodiscard]] std::span<const std::uint64_t> integers() const { return integers_; }
  [[nodiscard]] std::span<const double> reals() const { return reals_; }
  [[nodiscard]] bool is_negative(std::size_t i) const {
    return column_.is_signed() && static_cast<std::int64_t>(integers_[i]) < 0;
  }

  /// The value; std::nullopt when it is no whole number below 2^100.
  [[nodiscard]] std::optional<WideWhole> whole(std::size_t i) const {
    if (column_.is_float() || scale_.any()) return whole_value(i);
    return column_.is_signed() ? WideWhole{static_cast<std::int64_t>(integers_[i])} : WideWhole{integers_[i]};
  }
  /// The double nearest to the value.
  [[nodiscard]] double real(std::size_t i) const;
  /// The number as stored, for messages.
  [[nodiscard]] std::string text(std::size_t i) const;
  /// The dataset and the row.
  [[nodiscard]] std::string place(std::size_t i) const;

 private:
  void learn_marks();
  void learn_range();
  void find_missing();
  [[nodiscard]] bool is_in_range(std::size_t i) const;
  [[nodiscard]] std::optional<WideWhole> whole_value(std::size_t i) const;

  ColumnReader column_;
  Takes takes_;
  DecimalScale scale_;
  RowRanges unwritten_;
  bool may_lack_ = false;                       ///< rows without a value are known from the attributes or the layout
  std::vector<std::uint64_t> marked_integers_;  ///< numbers of rows without a value
  std::vector<double> marked_reals_;
  std::optional<StoredNumber> low_;  ///< the bounds of valid numbers
  std::optional<StoredNumber> high_;
  std::uint64_t row_ = 0;
  std::vector<std::uint64_t> integers_;
  std::vector<double> reals_;
  std::vector<bool> missing_;
};

}  // namespace eventloom
