#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/stream_file.hpp"

/// A stream of epoch buffers over UDP, little-endian throughout. Each datagram is a header of 40 bytes and
/// its contents:
///
///   offset  0 u32 magic, bytes "ELVD"      4 u32 CRC32C of bytes 8 to the end of the datagram
///           8 u8  version, 1               9 u8  kind (DatagramKind)      10 u16 zero
///          12 u32 source id               16 u32 session: drawn at random when the sender starts, so that
///                                                a different one indicates a restart
///          20 u32 data: where in its epoch buffer the fragment lies, bytes; else 0
///          24 u64 data: number of the epoch buffer in the stream sent, from 0; mark, end: number of the
///                 next one; header: 0
///          32 u32 data: bytes of the whole stored epoch buffer; else 0
///          36 u32 zero
///
/// Contents by kind:
///
///   header  i64 Unix time of tick 0 in ns (0: not known), then the stream's header as
///           encode_stream_header() gives it, its text cut so that it fits. Sent first and again every second.
///   data    a fragment, at least one byte, of a stored epoch buffer (epoch_buffer.hpp): header, words and
///           padding, with their own checksums. `source`, `sequence` and `hits_before` in that header are
///           those of the stream sent; `stream_offset` is free.
///   mark    u64 epoch: no epoch buffer that begins before it will follow; u64 hits sent so far. Sent when
///           nothing else has been sent for a while, so that a quiet source delays no other and the loss of
///           the last datagrams is detected.
///   end     as mark; ends the stream. Sent three times, since nothing is acknowledged.
///
/// There are no replies. The sequence reveals loss, duplicates and reordering; `hits_before` of the epoch buffers
/// reveals the number of lost hits.
namespace eventloom {

enum class DatagramKind : std::uint8_t { header = 1, data = 2, mark = 3, end = 4 };

struct DatagramHeader {
  static constexpr std::uint32_t kMagic = 0x44564c45U;
  static constexpr std::uint8_t kVersion = 1;

  std::uint32_t magic = kMagic;
  std::uint32_t crc = 0;
  std::uint8_t version = kVersion;
  DatagramKind kind = DatagramKind::data;
  std::uint16_t reserved = 0;
  std::uint32_t source = 0;
  std::uint32_t session = 0;
  std::uint32_t offset = 0;
  std::uint64_t sequence = 0;
  std::uint32_t buffer_bytes = 0;
  std::uint32_t reserved_too = 0;
};
static_assert(sizeof(DatagramHeader) == 40 && std::is_trivially_copyable_v<DatagramHeader>);
static_assert(offsetof(DatagramHeader, source) == 12 && offsetof(DatagramHeader, sequence) == 24);

/// Contents of mark and end datagrams.
struct DatagramMark {
  Epoch complete = 0;
  std::uint64_t hits = 0;  ///< hits sent so far

  friend bool operator==(const DatagramMark&, const DatagramMark&) = default;
};
static_assert(sizeof(DatagramMark) == 16 && std::is_trivially_copyable_v<DatagramMark>);

/// Contents of a header datagram.
struct DatagramStream {
  std::int64_t started_ns = 0;  ///< Unix time of tick 0; 0: unknown
  StreamHeader header;
};

/// Largest UDP datagram of IPv4: 65535 bytes minus the IP and UDP headers.
inline constexpr std::size_t kMaxDatagramBytes = 65507;
/// Largest stored epoch buffer that may be sent: millions of hits in one epoch. A receiver must be able to hold several
/// per board while they wait for fragments.
inline constexpr std::uint32_t kMaxSentBufferBytes = 32U << 20;
/// Smallest datagram that fits the header of any stream, without its text.
inline constexpr std::size_t kMinHeaderDatagramBytes = sizeof(DatagramHeader) + sizeof(std::int64_t) + 128;

/// Sets the checksum; for senders that pass header and contents to the system separately.
void seal(DatagramHeader& header, std::span<const std::byte> contents);

/// Seals the header and writes it and the contents to the start of `out`, which must have room for both. Returns the
/// datagram as a view of `out`.
std::span<std::byte> compose_datagram(DatagramHeader& header, std::span<const std::byte> contents,
                                      std::span<std::byte> out);

/// Contents of a header datagram of at most `datagram_bytes` in total, which must be at least kMinHeaderDatagramBytes.
std::vector<std::byte> encode_datagram_stream(const DatagramStream& stream, std::size_t datagram_bytes);

/// A valid datagram; its contents are an unaligned view of the bytes read.
struct Datagram {
  DatagramHeader header;
  std::span<const std::byte> contents;
};

/// Reads untrusted `bytes`. Returns std::nullopt unless everything that does not depend on other datagrams is valid:
/// magic, version, kind, zero fields, checksum, and the size of the contents for the kind; a fragment must lie inside
/// its epoch buffer, whose size must be at least a header, a multiple of 8, and at most kMaxSentBufferBytes.
std::optional<Datagram> read_datagram(std::span<const std::byte> bytes);

/// Contents of a datagram of kind mark or end.
DatagramMark mark_of(const Datagram& datagram);
/// Contents of a datagram of kind header. Throws std::runtime_error that states the expected contents, like
/// decode_stream_header().
DatagramStream stream_of(const Datagram& datagram);

}  // namespace eventloom
