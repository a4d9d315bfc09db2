#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "formats/fletcher32.hpp"
#include "io/hdf5/stored_chunks.hpp"

namespace eventloom {

/// Reads a dataset with unfiltered chunks, each followed by its Fletcher-32 checksum, and verifies the checksums.
/// Bypasses HDF5, which would buffer a whole chunk of every column and computes the checksum slowly.
class PlainChunks {
 public:
  /// Returns std::nullopt when the chunks are stored otherwise, or the values are not of `type`. File and dataset must
  /// stay open. `name` names both in messages.
  static std::optional<PlainChunks> of(hid_t file, hid_t dataset, hid_t type, std::uint64_t rows, std::string name);

  /// Reads those of the rows [row, row + n) that lie in the chunk of `row` and fit in `buffer`; returns their number.
  /// Verifies the checksum of a chunk with its last row. Throws UserError when the file cannot be read or a checksum is
  /// wrong.
  std::uint64_t read(std::uint64_t row, std::uint64_t n, std::span<std::byte> buffer);

 private:
  explicit PlainChunks(StoredChunks chunks);
  void enter(std::uint64_t chunk);
  void sum_up_to(std::uint64_t end, std::span<std::byte> buffer);
  void add(std::span<const std::byte> bytes);
  void expect_checksum() const;

  StoredChunks chunks_;
  std::optional<std::uint64_t> chunk_;  ///< the chunk being read
  std::uint64_t address_ = 0;           ///< offset of the chunk in the file
  std::uint64_t summed_ = 0;            ///< bytes of the chunk included in `sum_`
  Fletcher32 sum_;
};

}  // namespace eventloom
