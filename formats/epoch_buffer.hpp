#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "formats/geometry.hpp"
#include "formats/markers.hpp"

namespace eventloom {

/// The checksum of the words, of which there are none, in a loss of unknown size. The CRC32C of no words is 0.
inline constexpr std::uint32_t kUnknownLoss = 0xffffffffU;
/// Whether an epoch buffer, described by its header or by its entry in an index, represents a loss of unknown size.
template <class Description>
constexpr bool is_unknown_loss(const Description& buffer) {
  return buffer.n_words == 0 && buffer.n_hits == 0 && buffer.words_crc == kUnknownLoss;
}

/// Header of every recorded or sent epoch buffer: one cache line, little-endian, followed by the words:
///
///   offset  0 u32 magic "EPBF"         4 u32 CRC32C of bytes 8..63
///           8 u32 CRC32C of the words 12 u32 source id
///          16 u64 first epoch
///          24 u32 epochs covered      28 u32 number of words
///          32 u32 number of hits      36 u32 words of payload in them
///          40 u64 number of hits of the stream before this buffer
///          48 u64 offset of this header in its stream file, bytes
///          56 u64 number of this buffer in its stream
///
/// The words are padded with a zero word to a multiple of 8 bytes (`stored_bytes`). A buffer with hits but without
/// words represents a stretch with that many hits that was lost before it was recorded; one with neither, and with
/// kUnknownLoss as the checksum of its words, a loss of unknown size. The offset reveals a misplaced buffer; earlier
/// hits that are missing show by their number.
struct EpochBufferHeader {
  static constexpr std::uint32_t kMagic = 0x46425045U;

  std::uint32_t magic = kMagic;
  std::uint32_t header_crc = 0;
  std::uint32_t words_crc = 0;
  std::uint32_t source = 0;
  Epoch first_epoch = 0;
  std::uint32_t n_epochs = 0;
  std::uint32_t n_words = 0;
  std::uint32_t n_hits = 0;
  std::uint32_t n_payload_words = 0;
  std::uint64_t hits_before = 0;
  std::uint64_t stream_offset = 0;
  std::uint64_t sequence = 0;

  [[nodiscard]] EpochRange epochs() const { return {first_epoch, first_epoch + Epoch(n_epochs)}; }
  /// Whether it represents a loss, of known or unknown size.
  [[nodiscard]] bool is_loss() const { return (n_words == 0 && n_hits != 0) || is_unknown_loss(*this); }
  /// Size of header, words and padding.
  [[nodiscard]] std::uint64_t stored_bytes() const {
    return sizeof(EpochBufferHeader) + (std::uint64_t{n_words} * 4 + 7) / 8 * 8;
  }
};
static_assert(sizeof(EpochBufferHeader) == 64 && std::is_trivially_copyable_v<EpochBufferHeader>);

/// Sets only the checksum of the header, for an epoch buffer that is moved within a stream. Its words, damaged or not,
/// keep their checksum.
void seal_header(EpochBufferHeader& header);
/// Sets both checksums. That of the words stays in a loss of unknown size.
void seal(EpochBufferHeader& header, std::span<const std::uint32_t> words);

/// Seals a header and appends it with its words to `out`, as stored bytes.
void append_stored(EpochBufferHeader& header, std::span<const std::uint32_t> words, std::vector<std::byte>& out);

/// The header at the start of `bytes` if its magic, checksum and epoch range are valid. It may still state more words
/// than `bytes` has.
std::optional<EpochBufferHeader> read_epoch_buffer_header(std::span<const std::byte> bytes);

/// Whether the CRC32C of the words matches the header; true for a loss of unknown size.
bool words_intact(const EpochBufferHeader& header, std::span<const std::uint32_t> words);

/// A view of the words after a header at the start of `bytes`, which must hold the whole buffer and be aligned to 4
/// bytes.
std::span<const std::uint32_t> words_of(const EpochBufferHeader& header, std::span<const std::byte> bytes);

/// Collects the hits of one source, in ascending time, into epoch buffers. close() appends these as stored bytes to a
/// vector of the caller.
class EpochBufferEncoder {
 public:
  struct Limits {
    /// A buffer never crosses a multiple of this many epochs, so that a slice of that many epochs consists of whole
    /// buffers.
    std::uint32_t epochs_per_buffer = 16;
    /// A buffer ends with the epoch in which it reaches this size.
    std::uint32_t words_per_buffer = 512;
  };

  /// `stream_offset`: offset of the first buffer in the stream, bytes.
  EpochBufferEncoder(std::uint32_t source, std::uint32_t epoch_ticks, std::uint64_t stream_offset, Limits limits);
  EpochBufferEncoder(const EpochBufferEncoder&) = delete;
  EpochBufferEncoder& operator=(const EpochBufferEncoder&) = delete;

  /// Whether the open buffer must be closed before a hit at `time` is added.
  [[nodiscard]] bool must_close_before(Tick time) const;
  /// Adds a hit, whose `time` must not be before that of the last one. `payload` is as in MarkerWriter::channel.
  void add(Tick time, std::uint32_t channel, std::span<const std::uint32_t> payload);
  /// Appends the open buffer, if any, to `out` and returns its header.
  std::optional<EpochBufferHeader> close(std::vector<std::byte>& out);

  /// First epoch of the open buffer, if any.
  [[nodiscard]] std::optional<Epoch> open_from() const {
    return open_.n_hits == 0 ? std::nullopt : std::optional(open_.first_epoch);
  }
  /// Upper limit of the open buffer's stored bytes.
  [[nodiscard]] std::size_t open_bytes() const {
    constexpr std::size_t kMost = sizeof(EpochBufferHeader) + sizeof(std::uint64_t) + sizeof(std::uint32_t);
    return kMost + words_.size() * sizeof(std::uint32_t);
  }
  [[nodiscard]] std::uint64_t hits() const { return hits_before_ + open_.n_hits; }
  [[nodiscard]] std::uint64_t stream_offset() const { return stream_offset_; }

 private:
  Limits limits_;
  std::uint32_t epoch_ticks_;
  std::uint32_t source_;
  std::uint64_t stream_offset_;
  std::uint64_t hits_before_ = 0;
  std::uint64_t sequence_ = 0;
  EpochBufferHeader open_;
  std::vector<std::uint32_t> words_;
  MarkerWriter writer_{words_};
  Epoch epoch_ = 0;
  Tick time_ = 0;
};

}  // namespace eventloom
