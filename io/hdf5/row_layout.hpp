#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "io/hdf5/column_shape.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/row_ranges.hpp"

namespace eventloom {

/// How the rows of a column are stored: in chunks, in one piece, or in other files; and which of them were ever
/// written. Errors throw UserError with the name of the column.
class RowLayout {
 public:
  RowLayout() = default;
  /// `name`: for messages. `dataset` must stay open as long as this is used. `rows`: number of its rows. Throws
  /// UserError when a compression filter or a source of a virtual dataset is missing, or the chunk index is damaged.
  RowLayout(std::string name, hid_t dataset, const ColumnShape& shape, std::uint64_t rows);

  /// Rows in a chunk; 0 when the dataset is not chunked, or its layout is damaged.
  static std::uint64_t chunk_rows_of(hid_t dataset, const ColumnShape& shape);

  /// The dataset's creation properties.
  [[nodiscard]] hid_t creation() const { return creation_.get(); }
  [[nodiscard]] bool is_chunked() const { return chunk_rows_ != 0; }
  /// One past the last row stored contiguously with `row`.
  [[nodiscard]] std::uint64_t piece_end(std::uint64_t row) const;
  /// The first of the rows [from, from + n) whose chunk is not in the file: it would read as the fill value.
  [[nodiscard]] std::optional<std::uint64_t> first_absent(std::uint64_t from, std::size_t n) const;
  /// The rows that were never written. require_written() bounds the time that this takes.
  [[nodiscard]] RowRanges unwritten() const;
  /// Throws UserError when most rows were never written.
  void require_written() const;

 private:
  void find_chunks();
  void find_rows_elsewhere();
  void require_filters() const;
  [[nodiscard]] bool filter_skipped(int filter) const;
  [[nodiscard]] std::uint64_t all_chunks() const;
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  hid_t dataset_ = -1;
  H5Id space_;
  H5Id creation_;
  ColumnShape shape_;
  std::uint64_t rows_ = 0;
  std::uint64_t chunk_rows_ = 0;                 ///< 0: the rows are contiguous
  std::uint64_t chunks_ = 0;                     ///< chunks stored in the file
  RowRanges mapped_;                             ///< rows of a virtual dataset that were ever written
  std::optional<std::uint64_t> rows_elsewhere_;  ///< rows that a virtual or external dataset has stored
};

}  // namespace eventloom
