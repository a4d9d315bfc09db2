#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/csv/csv_fields.hpp"
#include "io/csv/line_reader.hpp"
#include "io/csv/used_columns.hpp"

namespace eventloom {

/// The rows of a table: the lines after the header that are neither empty nor comments, split into fields.
class TableRows {
 public:
  /// `columns` must outlive the object. Throws UserError when the file cannot be opened.
  TableRows(const std::string& path, const CsvColumns& columns, Followed followed = nullptr)
      : columns_(columns), lines_(path, std::move(followed)) {}
  /// Whether the next line of a followed file is incomplete.
  [[nodiscard]] bool awaits_line() { return lines_.awaits_line(); }

  /// Advances to the next row; returns false at the end. Throws BadLine for a line that cannot be split into fields, or
  /// that has more of them than the header and the first row: a line break is damaged, and two rows appear as one. The
  /// next call then continues with the line after it.
  bool next();
  /// Likewise, but passes over such lines, which next() reports when the table is read.
  bool next_intact();

  /// The current row, valid until the next call of next().
  [[nodiscard]] std::string_view line() const { return line_; }
  /// Field of the current row, by column from 1. Throws BadLine when the row is shorter.
  [[nodiscard]] std::string_view field(std::size_t column) const;
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return splitter_.fields(); }
  /// Whether the fields that are used are known to be complete. Otherwise the row, the last one, may have been cut.
  [[nodiscard]] bool is_whole() const { return whole_; }
  [[nodiscard]] const LineReader& lines() const { return lines_; }

 private:
  void require_fit();

  const CsvColumns& columns_;
  LineReader lines_;
  std::string_view line_;
  FieldSplitter splitter_;
  bool whole_ = true;
  std::optional<bool> fits_header_;  ///< the first row has no more fields than the header
};

}  // namespace eventloom
