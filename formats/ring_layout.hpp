#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>

#include "formats/event.hpp"

/// Layout of an RMA window, per (sender, receiver) pair; little-endian.
///
///   receiver's window                               sender's window
///   +------------------------------------------+    +-------------+
///   | depth x CellDescriptor, 64 bytes each    |    | CreditBlock |  x kCreditPlaces, written by the receiver
///   +------------------------------------------+    +-------------+
///   | `between` bytes used by other rings      |
///   +------------------------------------------+
///   | depth x cell of cell_bytes               |
///   +------------------------------------------+
///     written only by the sender
///
/// The descriptors of all rings of a window are contiguous and precede all cells, so that a receiver reads few pages
/// when it polls its rings.
///
/// A cell holds chunks: first their bodies, contiguous, each padded to 8 bytes; then, from the next multiple of 64
/// bytes, their headers in the same order, except the first, which is in the descriptor. The sender must regain, for
/// the next round, each cache line that the receiver has read; therefore headers are kept together, and a single header
/// is in a line that is read anyway. Number and CRC32C validate every piece; see core/ring/README.md for the protocol.
namespace eventloom {

struct RingGeometry {
  std::uint32_t depth = 8;
  std::uint32_t cell_bytes = 64 * 1024;
  std::uint64_t between = 0;  ///< bytes between the end of the descriptors and the cells

  [[nodiscard]] std::uint64_t descriptor_bytes() const { return std::uint64_t{depth} * 64; }
  [[nodiscard]] std::uint64_t cells_bytes() const { return std::uint64_t{depth} * cell_bytes; }
  /// Bytes used by the ring; span_bytes(): bytes from its beginning to its end.
  [[nodiscard]] std::uint64_t ring_bytes() const { return descriptor_bytes() + cells_bytes(); }
  [[nodiscard]] std::uint64_t span_bytes() const { return between + ring_bytes(); }
  [[nodiscard]] std::uint64_t cell_offset(std::uint64_t sequence) const {
    return descriptor_bytes() + between + sequence % depth * cell_bytes;
  }
};

/// The receiver's grant to its sender.
struct alignas(64) CreditBlock {
  std::uint64_t released = 0;     ///< cells released since the start
  std::uint64_t slice_limit = 0;  ///< the receiver accepts slices below this number
  std::uint64_t number = 0;       ///< number of the grant, counted from 1
  std::uint32_t crc = 0;          ///< CRC32C of the 24 bytes before it

  [[nodiscard]] std::uint32_t checksum() const;
};
static_assert(sizeof(CreditBlock) == 64);
/// Grant n is put to place n mod kCreditPlaces, so that several can be in flight. Puts to one place would be
/// serialised.
inline constexpr std::uint64_t kCreditPlaces = 8;
inline constexpr std::uint64_t kCreditBytes = kCreditPlaces * sizeof(CreditBlock);

/// Header of one piece of a message, which is the data of one origin for one slice. It occupies kBytes, little-endian:
///
///    0 u64 slice          8 u64 total_bytes   16 u64 offset
///   24 u32 bytes         28 u32 origin
///   32 u16 kind          34 u8 has_more        35 u8 has_body_crc   36 u32 n_damage
///   40 u32 body_crc      44 u32 CRC32C of these 48 bytes with this field zero, xor the number of the cell
///
/// The number of the cell, as in its descriptor, distinguishes the header from an intact one of an earlier round of the
/// ring, which remains there while the new one is in flight.
struct ChunkHeader {
  enum Kind : std::uint16_t {
    kData = 0,
    kEnd = 1,  ///< the origin sends no more; `slice` is one past its last slice with data
    /// The origin has no data from `slice` up to the slice in the body, a u64; or only the stretch of damage that
    /// follows it there.
    kGap = 2,
    kLent = 3,  ///< like kData, but the body is the damage alone: a source of the same rank lends the rest
  };
  static constexpr std::size_t kBytes = 48;

  std::uint64_t slice = 0;
  std::uint64_t total_bytes = 0;  ///< size of the message's body
  std::uint64_t offset = 0;       ///< offset of this chunk in the body
  std::uint32_t bytes = 0;        ///< size of this chunk
  std::uint32_t origin = 0;       ///< number of the source or builder
  std::uint16_t kind = kData;
  /// 1: the origin has data in this slice or a later one.
  std::uint8_t has_more = 0;
  /// 1: `body_crc` is valid; 0: the body carries its own checksums (epoch buffers).
  std::uint8_t has_body_crc = 0;
  /// Number of Damage records at the start of the body. No chunk holds both damage records and other data; chunks with
  /// damage records have a `body_crc`.
  std::uint32_t n_damage = 0;
  std::uint32_t body_crc = 0;  ///< CRC32C of this chunk's bytes

  /// Whether the message is the origin's part of one slice.
  [[nodiscard]] bool of_slice() const { return kind == kData || kind == kLent; }
  [[nodiscard]] std::uint64_t damage_bytes() const { return n_damage * sizeof(Damage); }
  [[nodiscard]] bool last() const { return offset + bytes == total_bytes; }

  /// Writes kBytes to `to`, with their checksum for cell number `cell`.
  void store(std::byte* to, std::uint32_t cell) const;
  /// Reads kBytes; std::nullopt if they do not match their checksum for that cell.
  static std::optional<ChunkHeader> load(const std::byte* from, std::uint32_t cell);
};

/// Announces that a cell is complete: one cache line.
struct alignas(64) CellDescriptor {
  std::uint32_t sequence = 0;  ///< number of the cell, counted from 1 over all rounds of the ring, modulo 2^32
  std::uint32_t bytes = 0;     ///< bytes used, including headers
  std::uint32_t n_chunks = 0;
  /// CRC32C of these 16 bytes with this field zero, and of the last 8 bytes of `first_header`, its checksums.
  std::uint32_t crc = 0;
  std::array<std::byte, ChunkHeader::kBytes> first_header{};  ///< header of the first chunk, with its own CRC32C

  [[nodiscard]] std::uint32_t checksum() const;
};
static_assert(sizeof(CellDescriptor) == 64 && std::is_trivially_copyable_v<CellDescriptor>);

/// Maximum that one origin can send for one slice; more cannot be built, since words are counted in 32 bits.
inline constexpr std::uint64_t kMaxMessageBytes = std::uint64_t{16} << 30;

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

/// Offset of the headers in a cell whose bodies end at offset `bodies`.
constexpr std::uint64_t headers_offset(std::uint64_t bodies) { return (bodies + 63) / 64 * 64; }

struct Chunk {
  ChunkHeader header;
  std::span<const std::byte> body;
};

/// Iterates over the chunks in the used bytes of a cell, without copying them.
class Cell {
 public:
  /// `first_header` is in the descriptor; the others are at the end of `bytes`. `number`: number of the cell, as in the
  /// descriptor.
  Cell(std::span<const std::byte> bytes, std::uint32_t n_chunks, const std::byte* first_header, std::uint32_t number)
      : bytes_(bytes), left_(n_chunks), first_header_(first_header), number_(number) {
    const std::uint64_t headers = n_chunks > 1 ? (n_chunks - 1) * ChunkHeader::kBytes : 0;
    headers_at_ = headers <= bytes.size() ? bytes.size() - headers : 0;
  }

  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  [[nodiscard]] std::uint32_t number() const { return number_; }
  [[nodiscard]] bool at_end() const { return left_ == 0; }
  /// The next chunk; std::nullopt if its header is invalid.
  std::optional<Chunk> next();

 private:
  std::span<const std::byte> bytes_;
  std::uint32_t left_;
  const std::byte* first_header_;  ///< null once it has been read
  std::uint32_t number_;
  std::uint64_t headers_at_;
  std::uint64_t body_at_ = 0;
};

}  // namespace eventloom
