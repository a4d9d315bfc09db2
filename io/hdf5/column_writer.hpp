#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "formats/fletcher32.hpp"
#include "io/hdf5/chunk_filters.hpp"
#include "io/hdf5/column_spec.hpp"
#include "io/hdf5/output_file.hpp"

namespace eventloom {

struct ColumnSettings {
  std::size_t chunk_bytes = kDefaultChunkBytes;
  unsigned compress = 0;  ///< deflate level, with shuffle; 0 = off
  std::uint64_t tick_ps = 1000;
  bool numbered = false;  ///< times are event numbers
};

/// A tick as a unit that other programs understand: "ns", "25 ns".
std::string unit_of_ticks(std::uint64_t tick_ps);

/// Appends to a one-dimensional dataset. Collects values in memory and writes whole chunks; a dataset shorter than a
/// chunk gets one chunk of its length.
class ColumnWriter {
 public:
  /// `file` must outlive the column; the group of `spec.path` must exist.
  ColumnWriter(const OutputFile& file, const ColumnSpec& spec, const ColumnSettings& settings);
  ColumnWriter(ColumnWriter&&) noexcept = default;

  /// Throws UserError when the file cannot be written.
  void append_bytes(std::span<const std::byte> bytes);
  template <class T>
  void append(std::span<const T> values) {
    expect_width(sizeof(T));
    append_bytes(std::as_bytes(values));
  }
  /// Appends `n` values, each returned by `next()`.
  template <class T, class Next>
  void generate(std::size_t n, Next next) {
    expect_width(sizeof(T));
    while (n > 0) {
      const std::size_t now = std::min(n, room() / sizeof(T));
      T* to = reinterpret_cast<T*>(buffer() + filled_);
      for (std::size_t i = 0; i < now; ++i) to[i] = next();
      n -= now;
      take_in(now * sizeof(T));
    }
  }
  template <class T>
  void append_repeated(T value, std::size_t n) {
    generate<T>(n, [value] { return value; });
  }

  /// Writes the remaining values. Call once, after the last value.
  void finish();

  [[nodiscard]] std::uint64_t rows() const { return rows_written_ + filled_ / width_; }
  /// Rows until the next chunk is written; at least one.
  [[nodiscard]] std::uint64_t rows_to_chunk_end() const { return (chunk_bytes_ - filled_) / width_; }

 private:
  void expect_width(std::size_t width) const {
    if (width != width_) throw std::logic_error("values of the wrong type for " + spec_->path);
  }
  /// Values are summed up this many bytes at a time, while they are in the cache next to the core.
  static constexpr std::size_t kBlockBytes = std::size_t{16} << 10;

  std::byte* buffer();
  [[nodiscard]] std::size_t room() const { return std::min(chunk_bytes_ - filled_, kBlockBytes); }
  void take_in(std::size_t bytes);
  void create(std::size_t chunk_bytes);
  void write_chunk();
  std::span<const std::byte> stored_chunk();

  const OutputFile* file_;
  const ColumnSpec* spec_;
  ColumnSettings settings_;
  std::size_t width_;
  std::size_t chunk_bytes_;
  std::size_t filled_ = 0;  ///< bytes in the buffer
  std::uint64_t rows_written_ = 0;
  std::uint32_t sum_ = 0;              ///< checksum of all values
  Fletcher32 chunk_sum_;               ///< checksum of those in the buffer; unused with compression
  std::optional<ChunkPacker> packer_;  ///< set: chunks are compressed
  std::unique_ptr<std::byte[]> buffer_;
  H5Id dataset_;
};

/// Writes a small dataset at once.
template <class T>
void write_column(const OutputFile& file, const ColumnSpec& spec, std::span<const T> values) {
  ColumnWriter column(file, spec, {});
  column.append(values);
  column.finish();
}

}  // namespace eventloom
