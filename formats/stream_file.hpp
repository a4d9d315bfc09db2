#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/payload_kind.hpp"

/// A recorded stream, extension `.epochs`, little-endian throughout:
///
///   +---------------+  offset 0: fixed header (StreamFileHeader), then `text_bytes` of free text,
///   | header, text  |  padded with zeros to a multiple of 64
///   +---------------+
///   | epoch buffer  |  see epoch_buffer.hpp; first epochs ascend, no epoch is in two buffers,
///   | epoch buffer  |  epochs without items are omitted
///   | ...           |
///   +---------------+
///   | index         |  one IndexEntry per epoch buffer, in the order of the file
///   +---------------+
///   | trailer       |  the last 64 bytes: StreamFileTrailer
///   +---------------+
///
/// A file without index and trailer (after a crash, or while it is being written) is read by scanning the buffers.
namespace eventloom {

/// Bits of StreamHeader::flags: the meaning of a stream's times and payload.
enum StreamFlag : std::uint32_t {
  kNumbered = 1,              ///< times are event numbers, each expected from every numbered source of a run
  kTriggerInPayload = 2,      ///< the high half of a hit's second payload word is the trigger type
  kSorted = 4,                ///< hits of all sources of a run, in its order: see sorted_hit.hpp
  kOptional = 8,              ///< events may lack the source; a run does not wait for it while it is silent
  kNamedPayload = 0x10,       ///< a line before the text names the payload columns, with commas between; only in files
  kPixels = 0x20,             ///< channels are pixels, see pixel_of()
  kTagWord = 0xf00,           ///< see tag_word()
  kPayloadKinds = 0xffff000,  ///< see payload_kind()
};
inline constexpr std::uint32_t kKnownStreamFlags =
    kNumbered | kTriggerInPayload | kSorted | kOptional | kPixels | kNamedPayload | kTagWord | kPayloadKinds;

/// Number, from 1, of the payload word whose low byte is the event's tag, which is equal in all numbered sources; 0:
/// there is no tag.
constexpr std::uint32_t tag_word(std::uint32_t flags) { return (flags & kTagWord) >> 8; }
constexpr std::uint32_t with_tag_word(std::uint32_t word) { return word << 8; }

/// Number of payload columns, from the first, that may be other than u32: two bits of the flags for each.
inline constexpr std::size_t kTypedColumns = 8;

/// Kind of a payload column, counted from 0; a column of f64 has two words.
constexpr PayloadKind payload_kind(std::uint32_t flags, std::size_t column) {
  return column < kTypedColumns ? static_cast<PayloadKind>(flags >> (12 + 2 * column) & 3U) : PayloadKind::u32;
}
/// The flags of such a column, which is below kTypedColumns.
constexpr std::uint32_t with_payload_kind(std::size_t column, PayloadKind kind) {
  return static_cast<std::uint32_t>(kind) << (12 + 2 * column);
}
/// The kind of the first column, for the flags of several streams.
std::vector<PayloadKind> first_payload_kinds(std::span<const std::uint32_t> flags);

struct StreamHeader {
  std::uint32_t source = 0;
  TimeBase base;
  PayloadTable payload;
  std::string text;         ///< free text: the origin of the data
  std::uint32_t flags = 0;  ///< StreamFlag, except kNamedPayload
  std::vector<std::string> payload_names =
      {};  ///< names of the payload columns, without commas and line breaks; empty: none

  friend bool operator==(const StreamHeader&, const StreamHeader&) = default;
};

/// A column of payload: one number of each hit.
struct PayloadColumn {
  std::string name;
  PayloadKind kind = PayloadKind::u32;
};
/// Sets names, kinds and the number of words of the payload that all hits have. Only the first kTypedColumns may be
/// other than u32.
void set_payload(StreamHeader& header, std::span<const PayloadColumn> columns);

/// The type of each named payload column: u32, i32, f32 or f64.
std::vector<std::string> payload_type_names(const StreamHeader& header);

struct StreamFileHeader {
  static constexpr std::uint64_t kMagic =
      0x0a53484350453189ULL;  ///< bytes 89 31 "EPCHS" 0a: no text file begins like this
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t header_crc = 0;  ///< CRC32C of everything after this field, including the text
  std::uint32_t source = 0;
  std::uint32_t epoch_ticks = 0;
  std::uint64_t tick_ps = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t flags = 0;  ///< StreamFlag; unknown flags are an error
  std::uint8_t payload_words[64] = {};
};
static_assert(sizeof(StreamFileHeader) == 104 && std::is_trivially_copyable_v<StreamFileHeader>);

struct IndexEntry {
  std::uint64_t offset = 0;  ///< offset of the epoch buffer's header in the file, bytes
  Epoch first_epoch = 0;
  std::uint32_t n_epochs = 0;
  std::uint32_t n_hits = 0;
  std::uint32_t n_words = 0;
  std::uint32_t words_crc = 0;  ///< makes the checksum of the index cover the whole file

  [[nodiscard]] EpochRange epochs() const { return {first_epoch, first_epoch + Epoch(n_epochs)}; }
};
static_assert(sizeof(IndexEntry) == 32 && std::is_trivially_copyable_v<IndexEntry>);

struct StreamFileTrailer {
  static constexpr std::uint64_t kMagic = 0x0a58444e49504589ULL;

  std::uint64_t magic = kMagic;
  std::uint64_t index_offset = 0;
  std::uint64_t n_buffers = 0;
  std::uint64_t n_hits = 0;
  Tick first_tick = 0;  ///< time of the first hit, last_tick: of the last; both 0 without hits
  Tick last_tick = 0;
  std::uint32_t index_crc = 0;
  std::uint32_t trailer_crc = 0;  ///< CRC32C of the bytes before it
  std::uint64_t reserved = 0;
};
static_assert(sizeof(StreamFileTrailer) == 64 && std::is_trivially_copyable_v<StreamFileTrailer>);

/// The bytes of a stream file up to the first epoch buffer.
std::vector<std::byte> encode_stream_header(const StreamHeader& header);

struct DecodedStreamHeader {
  StreamHeader header;
  std::uint64_t first_buffer_offset = 0;
};
/// `bytes`: the start of a file. Throws std::runtime_error that states the defect.
DecodedStreamHeader decode_stream_header(std::span<const std::byte> bytes);

/// Sets both checksums of the trailer that follows `index`.
void seal(StreamFileTrailer& trailer, std::span<const IndexEntry> index);

/// The index at the end of a complete file, as a view into `file`. std::nullopt if there is no trailer, or if the
/// trailer or the index is damaged; `damaged` is set only in the latter case.
struct IndexView {
  StreamFileTrailer trailer;
  std::span<const IndexEntry> entries;
};
std::optional<IndexView> find_index(std::span<const std::byte> file, bool& damaged);

}  // namespace eventloom
