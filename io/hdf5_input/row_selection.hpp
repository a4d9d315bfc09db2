#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "io/hdf5_input/lost_rows.hpp"
#include "io/hdf5_input/value_column.hpp"
#include "io/recorded/row_condition.hpp"

namespace eventloom {

/// A dataset with which the key `where` selects rows: of numbers, which enumerations also have names for, or of texts.
class RowSelection {
 public:
  /// Throws UserError when `term` compares numbers with a word that is none of their names.
  RowSelection(ColumnReader column, RowTerm term);

  [[nodiscard]] const ColumnReader& column() const;

  /// Leaves out those of the rows [from, from + n) for which the term does not hold; a row without a value is lost, a
  /// text that must be a number and is not is a bad row. Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, LostRows& rows);

 private:
  void read_texts(ColumnReader& column, std::uint64_t from, std::size_t n, LostRows& rows);

  std::variant<ValueColumn, ColumnReader> column_;  ///< numbers, or texts
  RowTerm term_;
  std::vector<std::string> texts_;
};

}  // namespace eventloom
