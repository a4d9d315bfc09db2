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
///           encode_stream_header() gives it, its text cut so that it fits. Sent first and again every second. A board
///           that sends again what is requested appends u32 "ELXT" and u32 1, or 3 in the first three; earlier
///           receivers ignore both.
///   data    a fragment, at least one byte, of a stored epoch buffer (epoch_buffer.hpp): header, words and
///           padding, with their own checksums. `source`, `sequence` and `hits_before` in that header are
///           those of the stream sent; `stream_offset` is free.
///   mark    u64 epoch: no epoch buffer that begins before it will follow; u64 hits sent so far. Sent when
///           nothing else has been sent for a while, so that a quiet source delays no other and the loss of
///           the last datagrams is detected.
///   end     as mark; ends the stream. Sent three times, since nothing is acknowledged.
///
/// The sequence reveals loss, duplicates and reordering; `hits_before` of the epoch buffers reveals the number of lost
/// hits. The only replies are the requests of datagram_reply.hpp, to boards that announce that they take them.
namespace eventloom {

/// Kinds from `request` on: datagram_reply.hpp.
enum class DatagramKind : std::uint8_t {
  header = 1,
  data = 2,
  mark = 3,
  end = 4,
  request = 5,
  offer = 6,
  piece = 7,
  status = 8
};

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
  bool resends = false;  ///< the board takes requests for data that are missing
  bool begins = false;   ///< its session has just begun: all of it may be requested
};

/// Appended to the contents of a header datagram by a board that has any of these capabilities.
struct DatagramExtension {
  static constexpr std::uint32_t kMagic = 0x54584c45U;
  static constexpr std::uint32_t kResends = 1;  ///< it takes requests
  static constexpr std::uint32_t kBegins = 2;   ///< its session has just begun
  std::uint32_t magic = kMagic;
  std::uint32_t capabilities = 0;
};
static_assert(sizeof(DatagramExtension) == 8 && std::is_trivially_copyable_v<DatagramExtension>);

/// Largest UDP datagram of IPv4: 65535 bytes minus the IP and UDP headers.
inline constexpr std::size_t kMaxDatagramBytes = 65507;
/// Largest stored epoch buffer that may be sent: millions of hits in one epoch. A receiver must be able to hold several
/// per board while they wait for fragments.
inline constexpr std::uint32_t kMaxSentBufferBytes = 32U << 20;
/// Smallest datagram that fits the header of any stream, without its text.
inline constexpr std::size_t kMinHeaderDatagramBytes =
    sizeof(DatagramHeader) + sizeof(std::int64_t) + 128 + sizeof(DatagramExtension);

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

/// Reads untrusted `bytes`. Returns std::nullopt unless magic, version, zero fields and checksum are right; any kind.
std::optional<Datagram> read_framed(std::span<const std::byte> bytes);

/// Reads untrusted `bytes` from a board's stream. Returns std::nullopt unless everything that does not depend on other
/// datagrams is valid: magic, version, kind, zero fields, checksum, and the size of the contents for the kind; a
/// fragment must lie inside its epoch buffer, whose size must be at least a header, a multiple of 8, and at most
/// kMaxSentBufferBytes.
std::optional<Datagram> read_datagram(std::span<const std::byte> bytes);

/// Contents of a datagram of kind mark or end.
DatagramMark mark_of(const Datagram& datagram);
/// Contents of a datagram of kind header. Throws std::runtime_error that states the expected contents, like
/// decode_stream_header().
DatagramStream stream_of(const Datagram& datagram);

}  // namespace eventloom
