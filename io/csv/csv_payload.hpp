#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/stream_file.hpp"
#include "io/csv/csv_columns.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The payload columns of a table: their kinds, and their numbers as payload words.
///
/// A column is of the kind that the key states (payload=energy:f64), else of the first kind that holds all numbers in
/// the first rows: u32 for whole numbers from 0, i32 for whole numbers, f64 for decimal ones and where one is missing.
/// Missing values are NaN. Whole numbers are kept exactly.
class CsvPayload {
 public:
  /// Reads the first rows of the table. Throws UserError if the file cannot be opened.
  CsvPayload(const SourceUri& uri, const CsvColumns& columns);

  [[nodiscard]] std::span<const PayloadColumn> columns() const { return columns_; }
  /// Appends the words of a number of the i-th column. Returns false, and appends nothing, if its kind cannot hold it.
  [[nodiscard]] bool append(std::string_view text, std::size_t i, std::vector<std::uint32_t>& words) const;
  /// Describes for messages what `text` in the i-th column should be.
  [[nodiscard]] std::string expected(std::string_view text, std::size_t i) const;

 private:
  void learn_kinds(const SourceUri& uri, const CsvColumns& columns);

  std::vector<PayloadColumn> columns_;
  std::vector<bool> stated_;  ///< the kind of a column is that of the key
};

}  // namespace eventloom
