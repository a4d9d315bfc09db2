#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

/// Chunks of an HDF5 dataset as its filters shuffle, deflate and fletcher32 store them, in this order. ISA-L packs
/// level 1 and unpacks, where it is installed, otherwise zlib: faster than HDF5's filters, which call zlib, and without
/// its lock. Formats: "HDF5 File Format Specification" 3.0, IV.A.2.l (shuffle: first bytes of all values, then second
/// bytes, ...), RFC 1950.
namespace eventloom {

/// Bytes of the checksum, the last bytes of a stored chunk.
inline constexpr std::size_t kChunkChecksum = 4;

/// Example: "its checksum is wrong: 0123abcd was expected, not 00000000"
std::string wrong_checksum(std::uint32_t expected, std::uint32_t found);

class ChunkPacker {
 public:
  /// `width`: bytes of a value, 1, 2, 4 or 8; `level`: of deflate, 1 to 9.
  ChunkPacker(std::size_t width, unsigned level);
  ~ChunkPacker();
  ChunkPacker(ChunkPacker&&) noexcept;
  ChunkPacker& operator=(ChunkPacker&&) noexcept;

  /// The values as they are stored, with their checksum. Valid until the next call.
  std::span<const std::byte> pack(std::span<const std::byte> values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class ChunkUnpacker {
 public:
  /// `width`: as above
  explicit ChunkUnpacker(std::size_t width);
  ~ChunkUnpacker();
  ChunkUnpacker(ChunkUnpacker&&) noexcept;
  ChunkUnpacker& operator=(ChunkUnpacker&&) noexcept;

  /// Fills `values`, a whole chunk, from its stored bytes; `deflated`: false where the filter was left out, as HDF5
  /// does with chunks that would grow. Returns what is wrong with the stored bytes; empty on success.
  std::string unpack(std::span<const std::byte> stored, bool deflated, std::span<std::byte> values);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace eventloom
