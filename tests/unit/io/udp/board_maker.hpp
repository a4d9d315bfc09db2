#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/datagram.hpp"
#include "formats/epoch_buffer.hpp"
#include "io/live/live_feed.hpp"

namespace eventloom::test {

using Bytes = std::vector<std::byte>;

/// Composes a board's datagrams from the description of the format; owns the data that they view.
class BoardMaker {
 public:
  explicit BoardMaker(std::uint32_t source, std::uint32_t session = 77) : source_(source), session_(session) {}

  /// The next stored epoch buffer: `n_hits` words that need not be markers.
  Bytes buffer(Epoch first, std::uint32_t n_epochs, std::uint32_t n_hits);
  /// An epoch buffer with this header and right checksums.
  static Bytes stored(EpochBufferHeader header, std::span<const std::uint32_t> words);

  /// The datagrams of a buffer, with fragments of at most this many bytes.
  std::vector<Bytes> data(const Bytes& stored, std::uint64_t sequence, std::size_t fragment = 1 << 15) const;
  [[nodiscard]] Bytes one(const Bytes& stored, std::uint64_t sequence) const { return data(stored, sequence)[0]; }
  [[nodiscard]] Bytes mark(DatagramKind kind, Epoch complete) const;
  [[nodiscard]] Bytes mark(DatagramKind kind, std::uint64_t sequence, const DatagramMark& mark) const;
  [[nodiscard]] Bytes header(const StreamHeader& header, std::int64_t started_ns = 0) const;
  [[nodiscard]] Bytes compose(DatagramHeader header, std::span<const std::byte> contents) const;

  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }

 private:
  std::uint32_t source_;
  std::uint32_t session_;
  std::uint64_t sequence_ = 0;
  std::uint64_t hits_ = 0;
};

/// The headers of contiguous epoch buffers; fails the test if a byte has changed since it was sealed.
std::vector<EpochBufferHeader> headers_in(std::span<const std::byte> buffers);
/// The hits of all damage with this cause.
std::uint64_t hits_of(const std::vector<Damage>& damage, DropCause cause);

}  // namespace eventloom::test
