#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "io/hdf5/column_shape.hpp"
#include "io/hdf5/number_type.hpp"
#include "io/hdf5/row_layout.hpp"
#include "io/hdf5/row_ranges.hpp"
#include "io/hdf5/stored_number.hpp"

namespace eventloom {

/// Rows of a dataset cannot be read; `what()` gives the reason: a wrong checksum, a chunk missing from its place in the
/// index, a failing disk.
class UnreadableRows : public std::runtime_error {
 public:
  UnreadableRows(const std::string& what, std::uint64_t end) : std::runtime_error(what), end_(end) {}
  /// All rows from the first requested up to this one are lost.
  [[nodiscard]] std::uint64_t end() const { return end_; }

 private:
  std::uint64_t end_;
};

/// Reads a dataset of one column (ColumnShape) of numbers (NumberType) or texts, or such a field of a table
/// ("hits/time" of the compound dataset "hits"), from any HDF5 file. Keeps one chunk in memory, so that reading in
/// order decompresses each chunk once. Errors throw UserError with the names of file and dataset, except
/// UnreadableRows.
class ColumnReader {
 public:
  enum class Holds : std::uint8_t { numbers, numbers_or_texts };
  ColumnReader(const std::string& file, const std::string& dataset, Holds holds = Holds::numbers);
  ~ColumnReader();
  ColumnReader(ColumnReader&&) noexcept;

  /// File and dataset, for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool holds_texts() const { return type_.bytes == 0; }
  [[nodiscard]] bool is_float() const { return type_.is_float; }
  [[nodiscard]] bool is_signed() const { return type_.is_signed; }
  /// Size of a number in the file.
  [[nodiscard]] std::size_t number_bytes() const { return type_.bytes; }
  /// Precision of its floating-point numbers, in bits.
  [[nodiscard]] unsigned digits() const { return type_.digits; }
  /// Reads a text or number from an attribute of the dataset; std::nullopt when it has no such attribute. A field of a
  /// table has none. text_of() returns an empty text when the attribute is not a single short text.
  [[nodiscard]] std::optional<std::string> text_of(const char* attribute) const;
  [[nodiscard]] std::optional<std::uint64_t> number_of(const char* attribute) const;
  /// Numbers of any kind; none when there is no such attribute of numbers.
  [[nodiscard]] std::vector<StoredNumber> numbers_of(const char* attribute) const;
  /// The number that the writer chose for rows that were never written, if it did, and it is not 0.
  [[nodiscard]] std::optional<StoredNumber> fill_value() const;
  /// The number that an enumeration gives a name; std::nullopt without such a name.
  [[nodiscard]] std::optional<std::int64_t> number_of_name(const std::string& name) const;
  /// The first names of an enumeration; none of other types.
  [[nodiscard]] std::vector<std::string> names() const;
  /// The rows that were never written: they read as a fill value. require_written() bounds the time that this takes.
  [[nodiscard]] RowRanges unwritten() const { return layout_.unwritten(); }
  /// Throws UserError when most rows were never written and would read as the fill value.
  void require_written() const { layout_.require_written(); }
  /// Throws UserError when the other column has another number of rows.
  void require_rows_of(const ColumnReader& other) const;
  /// One past the last row stored contiguously with `row`.
  [[nodiscard]] std::uint64_t piece_end(std::uint64_t row) const { return layout_.piece_end(row); }

  /// Makes rows of chunks that are not in the file no errors: they read as the fill value.
  void accept_unwritten() { accepts_unwritten_ = true; }

  /// Reads elements [from, from + n) of an integer dataset. A negative element throws UserError with its row and
  /// `advice`. Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out, const std::string& advice);
  /// Returns negative elements as two's complement instead.
  void read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out);
  /// Reads elements [from, from + n) of a floating-point dataset.
  void read(std::uint64_t from, std::size_t n, std::vector<double>& out);
  /// Reads elements [from, from + n) of a dataset of texts, without the padding at their ends.
  void read(std::uint64_t from, std::size_t n, std::vector<std::string>& out);

 private:
  struct Handles;
  void open(const std::string& file, const std::string& dataset);
  void learn_type(Holds holds);
  void require_sound_texts(const std::string& file);
  void keep_one_chunk();
  [[noreturn]] void refuse_type(std::int64_t type) const;
  void read_as(std::int64_t memory_type, std::uint64_t from, std::size_t n, void* out);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  std::string path_;                ///< path of the dataset
  std::vector<std::string> field_;  ///< path of the field in a table
  std::unique_ptr<Handles> handles_;
  ColumnShape shape_;
  std::uint64_t size_ = 0;
  NumberType type_;  ///< 0 bytes: texts
  std::size_t row_bytes_ = 0;
  RowLayout layout_;
  bool accepts_unwritten_ = false;
};

}  // namespace eventloom
