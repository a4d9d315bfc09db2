#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/recorded/payload_columns.hpp"
#include "io/recorded/row_condition.hpp"

namespace eventloom {

/// A term of the key `where` or `overflow`, and its column.
struct CsvCondition {
  std::size_t column;
  RowTerm term;
};

/// The columns of a table that are used, counted from 1.
struct CsvColumns {
  std::size_t time = 0;
  std::size_t coarse = 0;                      ///< steps to be added to the time; 0: none
  std::size_t channel = 0;                     ///< 0: all hits have the fixed channel
  std::optional<std::uint32_t> fixed_channel;  ///< the key `fixed-channel`
  std::vector<std::size_t> payload;
  std::vector<PayloadKey> payload_keys;  ///< their names and stated kinds
  std::vector<CsvCondition> overflow;    ///< rows for which all hold mark turns; empty: none does
  std::vector<CsvCondition> where;       ///< rows for which one does not hold are left out
  std::string unit;                      ///< unit in the name of the time column; empty: none
  std::uint64_t lines_before = 0;        ///< number of lines before the first row
  std::vector<std::string> unread;       ///< the other columns, by name or number
  std::size_t n_named = 0;               ///< number of columns that the header names; 0: there is none

  /// The last column used.
  [[nodiscard]] std::size_t last() const {
    std::size_t column = std::max({time, coarse, channel});
    for (const auto word : payload) column = std::max(column, word);
    for (const auto* conditions : {&overflow, &where}) {
      for (const auto& condition : *conditions) column = std::max(column, condition.column);
    }
    return column;
  }
};

}  // namespace eventloom
