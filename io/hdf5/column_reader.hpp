#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

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

/// Reads a one-dimensional dataset of integers or floating-point numbers of up to 64 bits, or such a field of a table
/// ("hits/time" of the compound dataset "hits"), from any HDF5 file. Keeps one chunk in memory, so that reading in
/// order decompresses each chunk once. Errors throw UserError with the names of file and dataset, except
/// UnreadableRows.
class ColumnReader {
 public:
  ColumnReader(const std::string& file, const std::string& dataset);
  ~ColumnReader();
  ColumnReader(ColumnReader&&) noexcept;

  /// File and dataset, for messages.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool is_float() const { return is_float_; }
  [[nodiscard]] bool is_signed() const { return is_signed_; }
  /// Size of a number in the file.
  [[nodiscard]] std::size_t number_bytes() const { return number_bytes_; }
  /// Precision of its floating-point numbers, in bits.
  [[nodiscard]] unsigned digits() const { return digits_; }
  /// Reads a text or number from an attribute of the dataset; std::nullopt when it has no such attribute. A field of a
  /// table has none. text_of() returns an empty text when the attribute is not a single short text.
  [[nodiscard]] std::optional<std::string> text_of(const char* attribute) const;
  [[nodiscard]] std::optional<std::uint64_t> number_of(const char* attribute) const;
  /// Throws UserError when most rows were never written and would read as the fill value.
  void require_written() const;
  /// One past the last row stored contiguously with `row`.
  [[nodiscard]] std::uint64_t piece_end(std::uint64_t row) const;

  /// Reads elements [from, from + n) of an integer dataset. A negative element throws UserError with its row and
  /// `advice`. Throws UnreadableRows.
  void read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out, const std::string& advice);
  /// Returns negative elements as two's complement instead.
  void read(std::uint64_t from, std::size_t n, std::vector<std::uint64_t>& out);
  /// Reads elements [from, from + n) of a floating-point dataset.
  void read(std::uint64_t from, std::size_t n, std::vector<double>& out);

 private:
  struct Handles;
  void open(const std::string& file, const std::string& dataset);
  void learn_type();
  void learn_layout(const std::string& file);
  [[nodiscard]] bool filter_skipped(int filter) const;
  void keep_one_chunk();
  void require_stored(std::uint64_t from, std::size_t n) const;
  [[noreturn]] void refuse_type(std::int64_t type) const;
  void read_as(std::int64_t memory_type, std::uint64_t from, std::size_t n, void* out);
  [[noreturn]] void fail(const std::string& what) const;

  std::string name_;
  std::string path_;                ///< path of the dataset
  std::vector<std::string> field_;  ///< path of the field in a table
  std::unique_ptr<Handles> handles_;
  std::uint64_t size_ = 0;
  std::uint64_t chunk_rows_ = 0;                 ///< 0: the rows are contiguous
  std::uint64_t chunks_ = 0;                     ///< chunks stored in the file
  std::optional<std::uint64_t> rows_elsewhere_;  ///< rows that a virtual or external dataset has stored
  bool is_float_ = false;
  bool is_signed_ = false;
  std::size_t number_bytes_ = 0;
  unsigned digits_ = 0;
  std::size_t row_bytes_ = 0;
};

}  // namespace eventloom
