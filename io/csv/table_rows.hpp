#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/csv/used_columns.hpp"
#include "io/files/line_reader.hpp"
#include "io/files/table_fields.hpp"

namespace eventloom {

/// The rows of a table: the lines after the header that are neither empty nor comments, split into fields. If the
/// table has one column, an empty line between two rows is a row without a value. So is a line of tabs where tabs
/// separate the columns.
class TableRows {
 public:
  /// `columns` must outlive the object. Throws UserError when the file cannot be opened.
  TableRows(const std::string& path, const CsvColumns& columns, Followed followed = nullptr)
      : columns_(columns), lines_(path, std::move(followed)) {}
  /// Whether next() has returned false because the next line of a followed file is incomplete.
  [[nodiscard]] bool awaits_line() const { return awaits_; }

  /// Advances to the next row; returns false at the end, and where a followed file may continue. Throws BadLine for a
  /// line
  /// - that cannot be split into fields,
  /// - that has more of them than the header and the first row: a line break is damaged, and two rows appear as one,
  /// - that has fewer of them, where blanks separate them: a value is missing, and those after it have moved,
  /// - with a decimal comma where others have points, or the reverse: one of them may separate thousands,
  /// - with no value in a column of the keys `where` and `overflow`,
  /// - before which an empty line is a row; this is thrown for each, and then the row follows.
  /// The next call then continues with the line after it.
  bool next();
  /// Likewise, but passes over such lines, which next() reports when the table is read, and over rows that
  /// make no hits.
  bool next_intact();

  /// The current row, valid until the next call of next().
  [[nodiscard]] std::string_view line() const { return line_; }
  /// Whether a time is in its column, so that the row may show what the table holds.
  [[nodiscard]] bool has_time() const;
  /// Whether the key `where` leaves the current row out.
  [[nodiscard]] bool is_left_out() const { return left_out_; }
  /// Whether it marks turns of the counter of the times, by the key `overflow`.
  [[nodiscard]] bool marks_turn() const { return marks_turn_; }
  /// Field of the current row, by column from 1; empty when the row is shorter.
  [[nodiscard]] std::string_view value(std::size_t column) const {
    return column <= fields().size() ? fields()[column - 1] : std::string_view();
  }
  /// Likewise. Throws BadLine when the row is shorter.
  [[nodiscard]] std::string_view field(std::size_t column) const;
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return splitter_.fields(); }
  /// Whether the fields that are used are known to be complete. Otherwise the row, the last one, may have been cut.
  [[nodiscard]] bool is_whole() const { return whole_; }
  /// Whether a number had a decimal comma.
  [[nodiscard]] bool has_commas() const { return splitter_.has_commas(); }
  [[nodiscard]] const LineReader& lines() const { return lines_; }

 private:
  bool next_line();
  [[nodiscard]] bool is_row(std::string_view text) const;
  void require_no_empty_row();
  void require_fit();
  void require_all(std::size_t n);
  void require_no_row_names(std::size_t n) const;
  void require_no_decimal_commas(std::size_t n) const;
  void require_one_mark();
  [[nodiscard]] bool meets(const std::vector<CsvCondition>& conditions) const;

  const CsvColumns& columns_;
  LineReader lines_;
  std::string_view line_;
  std::uint64_t empty_lines_ = 0;  ///< before the current line, in a table of one column
  bool is_kept_ = false;           ///< the current line is a row that has not been returned
  bool is_single_ = false;         ///< the rows so far have one column
  bool awaits_ = false;            ///< the next line is incomplete
  FieldSplitter splitter_;
  bool whole_ = true;
  bool left_out_ = false;
  bool marks_turn_ = false;
  std::optional<bool> fits_header_;  ///< the first row has no more fields than the header
  char decimal_mark_ = '\0';         ///< mark of the first number that has one
  std::size_t n_first_ = 0;          ///< number of fields of the first row; 0: rows may have any number
};

/// Throws UserError if `where` or `overflow` compares a word without quotes with a column in which the first rows have
/// numbers alone: no row would ever be equal to it.
void require_words(const std::string& path, const CsvColumns& columns);

}  // namespace eventloom
