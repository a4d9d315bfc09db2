#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/chunk_filters.hpp"
#include "io/hdf5/stored_chunks.hpp"

namespace eventloom {

/// Reads a dataset with chunks that are shuffled, deflated and followed by a Fletcher-32 checksum, each chunk once if
/// the rows are read in order.
class DeflatedChunks {
 public:
  /// See PlainChunks::of().
  static std::optional<DeflatedChunks> of(hid_t file, hid_t dataset, hid_t type, std::uint64_t rows, std::string name);

  /// See PlainChunks::read(). Verifies the checksum of a chunk with its first row.
  std::uint64_t read(std::uint64_t row, std::uint64_t n, std::span<std::byte> buffer);

 private:
  explicit DeflatedChunks(StoredChunks chunks);
  void enter(std::uint64_t chunk);

  StoredChunks chunks_;
  ChunkUnpacker unpacker_;
  std::vector<std::byte> stored_;
  std::vector<std::byte> values_;       ///< all rows of the chunk
  std::optional<std::uint64_t> chunk_;  ///< the chunk being read
};

}  // namespace eventloom
