#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

/// What lies in an RMA window, per (sender, receiver) pair; little-endian.
///
///   receiver's window                               sender's window
///   +------------------------------------------+    +-------------+
///   | depth x CellDescriptor, 16 bytes each    |    | CreditBlock |  written by the receiver
///   | depth x cell of cell_bytes               |    +-------------+
///   +------------------------------------------+
///     written by the sender alone
///
/// A cell holds chunks: a ChunkHeader, its body, padding to 8 bytes, the next ChunkHeader.
/// Every piece proves itself by number and CRC32C; see core/ring/README.md for the protocol.
namespace eventloom {

struct RingGeometry {
  std::uint32_t depth = 8;
  std::uint32_t cell_bytes = 64 * 1024;

  [[nodiscard]] std::uint64_t descriptor_bytes() const { return (std::uint64_t{depth} * 16 + 63) / 64 * 64; }
  [[nodiscard]] std::uint64_t ring_bytes() const { return descriptor_bytes() + std::uint64_t{depth} * cell_bytes; }
  [[nodiscard]] std::uint64_t cell_offset(std::uint64_t sequence) const {
    return descriptor_bytes() + sequence % depth * cell_bytes;
  }
};

/// Says that a cell is complete. `sequence` counts the cells of the ring from 1.
struct CellDescriptor {
  std::uint64_t sequence = 0;
  std::uint32_t bytes = 0;
  std::uint32_t crc = 0;  ///< CRC32C of the 12 bytes before it
};
static_assert(sizeof(CellDescriptor) == 16 && std::is_trivially_copyable_v<CellDescriptor>);

/// What the receiver grants its sender.
struct alignas(64) CreditBlock {
  std::uint64_t released = 0;  ///< cells given back since the start
  std::uint64_t window = 0;    ///< the receiver takes slices below this number
  std::uint32_t crc = 0;       ///< CRC32C of the 16 bytes before it
};
static_assert(sizeof(CreditBlock) == 64);

/// One piece of a message: of what one origin has for one slice.
struct ChunkHeader {
  enum Kind : std::uint16_t {
    kData = 0,
    kEnd = 1,  ///< the origin sends no more; `slice` is one past its last slice with data
  };
  std::uint64_t slice = 0;
  std::uint64_t total_bytes = 0;  ///< of the message's body
  std::uint64_t offset = 0;       ///< of this chunk in the body
  std::uint32_t bytes = 0;        ///< of this chunk
  std::uint32_t origin = 0;       ///< number of the source or builder
  std::uint16_t kind = kData;
  /// The origin has data in this slice or a later one.
  std::uint8_t goes_on = 0;
  /// `body_crc` holds; otherwise the body carries checksums of its own (epoch buffers).
  std::uint8_t has_body_crc = 0;
  std::uint32_t n_damage = 0;  ///< Damage records that open the body
  std::uint32_t body_crc = 0;  ///< CRC32C of this chunk's bytes
  std::uint32_t crc = 0;       ///< CRC32C of the 44 bytes before it
  std::uint64_t reserved = 0;

  [[nodiscard]] bool last() const { return offset + bytes == total_bytes; }
};
static_assert(sizeof(ChunkHeader) == 56 && offsetof(ChunkHeader, crc) == 44 &&
              std::is_trivially_copyable_v<ChunkHeader>);

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

}  // namespace eventloom
