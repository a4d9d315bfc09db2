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

/// A recorded stream, extension `.epochs`, little-endian throughout:
///
///   +---------------+  offset 0: fixed header (StreamFileHeader), then `text_bytes` of free text,
///   | header, text  |  padded with zeros to a multiple of 64
///   +---------------+
///   | epoch buffer  |  see epoch_buffer.hpp; first epochs rise, no epoch stands in two buffers,
///   | epoch buffer  |  epochs without items are omitted
///   | ...           |
///   +---------------+
///   | index         |  one IndexEntry per epoch buffer, in the order of the file
///   +---------------+
///   | trailer       |  the last 64 bytes: StreamFileTrailer
///   +---------------+
///
/// A file without index and trailer (crash, still being written) is read by scanning the buffers.
namespace eventloom {

/// Meaning of a stream's times and payload; bits of StreamHeader::flags.
enum StreamFlag : std::uint32_t {
  kNumbered = 1,          ///< times are event numbers: every numbered source of a run should have each
  kTriggerInPayload = 2,  ///< the second payload word of a hit has the trigger type in its high half
  kSorted = 4,            ///< hits of all sources of a run, in its order: see sorted_hit.hpp
  kOptional = 8,          ///< events may lack the source, and nothing waits for it when it is silent
  kTagWord = 0xf00,       ///< see tag_word()
};
inline constexpr std::uint32_t kKnownStreamFlags = kNumbered | kTriggerInPayload | kSorted | kOptional | kTagWord;

/// Number of the payload word of a hit, from 1 on, whose low byte is the tag of its event: equal in all numbered
/// sources. 0: there is none.
constexpr std::uint32_t tag_word(std::uint32_t flags) { return (flags & kTagWord) >> 8; }
constexpr std::uint32_t with_tag_word(std::uint32_t word) { return word << 8; }

struct StreamHeader {
  std::uint32_t source = 0;
  TimeBase base;
  PayloadTable payload;
  std::string text;         ///< free text; where the data came from
  std::uint32_t flags = 0;  ///< StreamFlag

  friend bool operator==(const StreamHeader&, const StreamHeader&) = default;
};

struct StreamFileHeader {
  static constexpr std::uint64_t kMagic =
      0x0a53484350453189ULL;  ///< bytes 89 31 "EPCHS" 0a: no text file begins like this
  static constexpr std::uint32_t kVersion = 1;

  std::uint64_t magic = kMagic;
  std::uint32_t version = kVersion;
  std::uint32_t header_crc = 0;  ///< CRC32C of everything after this field, the text included
  std::uint32_t source = 0;
  std::uint32_t epoch_ticks = 0;
  std::uint64_t tick_ps = 0;
  std::uint32_t text_bytes = 0;
  std::uint32_t flags = 0;  ///< StreamFlag; an unknown one is an error
  std::uint8_t payload_words[64] = {};
};
static_assert(sizeof(StreamFileHeader) == 104 && std::is_trivially_copyable_v<StreamFileHeader>);

struct IndexEntry {
  std::uint64_t offset = 0;  ///< of the epoch buffer's header in the file, bytes
  std::uint64_t first_epoch = 0;
  std::uint32_t n_epochs = 0;
  std::uint32_t n_hits = 0;
  std::uint32_t n_words = 0;
  std::uint32_t words_crc = 0;  ///< so that the checksum of the index covers the whole file

  [[nodiscard]] EpochRange epochs() const { return {first_epoch, first_epoch + n_epochs}; }
};
static_assert(sizeof(IndexEntry) == 32 && std::is_trivially_copyable_v<IndexEntry>);

struct StreamFileTrailer {
  static constexpr std::uint64_t kMagic = 0x0a58444e49504589ULL;

  std::uint64_t magic = kMagic;
  std::uint64_t index_offset = 0;
  std::uint64_t n_buffers = 0;
  std::uint64_t n_hits = 0;
  Tick first_tick = 0;  ///< of the first and the last hit; 0 without hits
  Tick last_tick = 0;
  std::uint32_t index_crc = 0;
  std::uint32_t trailer_crc = 0;  ///< CRC32C of the bytes before it
  std::uint64_t reserved = 0;
};
static_assert(sizeof(StreamFileTrailer) == 64 && std::is_trivially_copyable_v<StreamFileTrailer>);

/// Bytes of a stream file up to the first epoch buffer.
std::vector<std::byte> encode_stream_header(const StreamHeader& header);

struct DecodedStreamHeader {
  StreamHeader header;
  std::uint64_t first_buffer_offset = 0;
};
/// `bytes`: the start of a file. Throws std::runtime_error that says what was expected.
DecodedStreamHeader decode_stream_header(std::span<const std::byte> bytes);

/// Sets both checksums of the trailer of `index`.
void seal(StreamFileTrailer& trailer, std::span<const IndexEntry> index);

/// The index at the end of a complete file: a view into `file`. Nothing when there is no trailer or when the trailer or
/// the index is damaged; `damaged` says which.
struct IndexView {
  StreamFileTrailer trailer;
  std::span<const IndexEntry> entries;
};
std::optional<IndexView> find_index(std::span<const std::byte> file, bool& damaged);

}  // namespace eventloom
