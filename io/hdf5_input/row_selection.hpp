#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/hdf5/column_reader.hpp"
#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/missing_values.hpp"
#include "io/hdf5_input/value_scale.hpp"
#include "io/recorded/row_condition.hpp"

namespace eventloom {

/// A dataset with which the key `where` selects rows.
class RowSelection {
 public:
  /// `term` compares the numbers of `column`. Throws UserError when it compares words.
  RowSelection(ColumnReader column, RowTerm term);

  [[nodiscard]] const ColumnReader& column() const { return column_; }

  /// Leaves out those of the rows [from, from + n) for which the term does not hold; a row without a number is lost.
  /// Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, LostRows& rows);

 private:
  [[nodiscard]] bool holds(std::size_t i) const;

  ColumnReader column_;
  MissingValues missing_values_;
  ValueScale scale_;
  RowTerm term_;
  std::vector<std::uint64_t> integers_;
  std::vector<double> reals_;
  std::vector<bool> missing_;
};

}  // namespace eventloom
