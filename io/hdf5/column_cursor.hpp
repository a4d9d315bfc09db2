#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "io/hdf5/column_spec.hpp"
#include "io/hdf5/deflated_chunks.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/plain_chunks.hpp"

namespace eventloom {

/// Buffer size per column where many columns are read side by side.
inline constexpr std::size_t kColumnBuffer = std::size_t{256} << 10;

/// Reads a one-dimensional dataset from front to back through a buffer of fixed size. Verifies the checksum of its
/// values at the last row, unless rows were skipped unread.
class ColumnCursor {
 public:
  /// `file_name` is for messages. Throws UserError unless the file has this dataset, of numbers.
  ColumnCursor(hid_t file, const std::string& file_name, const ColumnSpec& spec, std::size_t buffer_bytes);

  [[nodiscard]] std::uint64_t rows() const { return rows_; }
  [[nodiscard]] std::uint64_t rows_left() const { return rows_ - at_; }

  /// Returns the next rows in the buffer, at least one unless none are left. Valid until the next call. Throws
  /// UserError when the file cannot be read.
  std::span<const std::byte> peek_bytes();
  template <class T>
  std::span<const T> peek() {
    const auto bytes = peek_bytes();
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  /// Skips `n` rows, but not past the end; they need not have been read.
  void skip(std::uint64_t n);
  /// Returns the next row. Throws UserError past the last one.
  template <class T>
  T next() {
    if (at_ == rows_) fail_behind_end();
    const T value = peek<T>().front();
    skip(1);
    return value;
  }

 private:
  void fill();
  void read_rows();
  void sum_up();
  [[noreturn]] void fail_behind_end() const;

  std::string file_name_;
  const ColumnSpec* spec_;
  std::size_t width_;
  std::size_t buffer_rows_;
  H5Id dataset_;
  std::uint64_t rows_ = 0;
  std::uint64_t at_ = 0;     ///< next row
  std::uint64_t begin_ = 0;  ///< rows [begin_, end_) are buffered
  std::uint64_t end_ = 0;
  std::unique_ptr<std::byte[]> buffer_;
  std::optional<std::uint32_t> sealed_;  ///< checksum stored with the dataset
  std::uint32_t sum_ = 0;                ///< checksum of the first `summed_` rows
  std::uint64_t summed_ = 0;
  // Neither: HDF5 reads the chunks.
  std::optional<PlainChunks> plain_;
  std::optional<DeflatedChunks> deflated_;
};

}  // namespace eventloom
