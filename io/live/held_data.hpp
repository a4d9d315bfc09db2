#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"
#include "io/epochs/held_buffers.hpp"

namespace eventloom {

/// The epoch buffers that a live stream holds until the run has built them, in ascending epochs, and the memory they
/// take. Memory is released in whole chunks, one per batch received.
class HeldData {
 public:
  /// `limit`: bytes from which the memory is full.
  explicit HeldData(std::size_t limit) : limit_(limit) {}

  /// Empty memory to receive into.
  std::vector<std::byte> take_spare();
  /// Holds the first `kept` bytes of a chunk: those of its buffers. The rest of its memory is released or reused.
  void add(HeldBuffers chunk, std::size_t kept);
  /// Hands over everything held.
  std::deque<HeldBuffers> take_all();
  /// Drops everything held.
  void clear() { (void)take_all(); }

  [[nodiscard]] bool is_full() const { return bytes_ >= limit_; }
  /// Whether a buffer fits beside what is held and `taken` further bytes.
  [[nodiscard]] bool has_room(std::size_t taken, const EpochBufferHeader& header) const;
  /// Whether release_before(`epoch`) leaves the memory full.
  [[nodiscard]] bool stays_full(Epoch epoch) const;
  /// release_before() of this epoch or a later one frees much of the memory; the maximum value: it is not in use.
  [[nodiscard]] Epoch crowded_before() const;

  void collect(EpochRange epochs, std::vector<std::span<const std::byte>>& out) const {
    collect_held(chunks_, epochs, out);
  }
  [[nodiscard]] std::optional<Epoch> next_beginning(Epoch from) const { return next_held(chunks_, from); }
  void release_before(Epoch epoch);

  /// The data from epoch `end` on: their hits, or copies of them as whole stored buffers. A damaged buffer that the end
  /// divides lies before it, since how many of its hits do is unknown.
  [[nodiscard]] std::uint64_t hits_from(Epoch end, const StreamHeader& header) const;
  void copy_from(Epoch end, const StreamHeader& header, std::vector<std::byte>& out) const;

 private:
  void keep_spare(std::vector<std::byte>& memory);
  /// Data that take up more than an eighth of the memory are worth releasing, even at the cost of a copy.
  [[nodiscard]] bool is_much(std::size_t bytes) const { return bytes > limit_ / 8; }
  void extend_oldest();

  std::size_t limit_;
  std::size_t bytes_ = 0;
  std::size_t oldest_ = 0;        ///< number of the first chunks that take much of the memory, or all
  std::size_t oldest_bytes_ = 0;  ///< the memory that they take
  std::deque<HeldBuffers> chunks_;
  std::vector<std::byte> spare_;
};

}  // namespace eventloom
