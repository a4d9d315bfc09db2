#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "formats/datagram.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

/// A reassembled stored epoch buffer; its contents are unchecked.
struct WholeBuffer {
  std::uint64_t sequence = 0;
  std::vector<std::byte> bytes;
};

/// Epoch buffers that were given up.
struct MissingBuffers {
  std::uint64_t n_buffers = 0;
  std::optional<EpochBufferHeader> header;  ///< of the only buffer, when its beginning has come and is intact
};

/// All epoch buffers before a mark have been returned.
struct MarkReached {
  DatagramMark mark;
  bool end = false;
};

using ReassembledItem = std::variant<WholeBuffer, MissingBuffers, MarkReached>;

/// Puts the fragments of one session of a sender in order: added as they arrive, returned by rising sequence number.
/// Missing data are waited for as long as the memory allows and the caller wants.
class ReassemblyBuffer {
 public:
  /// Epoch buffers that may wait for a missing one. Networks recover or lose within far less.
  static constexpr std::size_t kMostBuffers = 4096;
  /// Bytes that may wait, including overhead: twice the greatest epoch buffer and some, so that an incomplete one does
  /// not keep the next from being reassembled.
  static constexpr std::size_t kMostBytes = std::size_t{kMaxSentBufferBytes} * 5 / 2;
  /// Overhead of a fragment in map and heap, so that many small ones are bounded, too.
  static constexpr std::size_t kFragmentCost = 128;

  enum class Placement { taken, duplicate, contradiction };
  /// Adds a datagram of kind data. Contradiction: it does not fit earlier fragments. Call next() until it returns
  /// nothing after each.
  Placement put(const Datagram& datagram, std::int64_t now_ns);
  /// Adds a datagram of kind mark or end.
  void put_mark(const Datagram& datagram, std::int64_t now_ns);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
  /// The next item in order. Missing data are given up when found missing at `noticed_by` or before, or when too much
  /// waits for them.
  std::optional<ReassembledItem> next(std::int64_t noticed_by);

  /// Something waits: next() may return more as time passes.
  [[nodiscard]] bool waiting() const { return !pending_.empty() || mark_; }
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }
  /// Fragments that came after later ones.
  [[nodiscard]] std::uint64_t reordered() const { return reordered_; }

 private:
  struct Pending {
    std::uint32_t whole = 0;  ///< bytes of the epoch buffer
    std::uint32_t have = 0;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::map<std::uint32_t, std::vector<std::byte>> fragments;  ///< by offset; none overlap
  };
  using PendingBuffers = std::map<std::uint64_t, Pending>;
  struct PendingMark {
    std::uint64_t sequence = 0;
    std::int64_t noticed_ns = 0;
    MarkReached reached;
  };

  static Placement place(const Pending& pending, const Datagram& datagram);
  static std::vector<std::byte> joined(Pending& pending);
  void note_order(const DatagramHeader& header);
  [[nodiscard]] bool over_full() const { return pending_.size() > kMostBuffers || held_bytes_ > kMostBytes; }
  [[nodiscard]] std::int64_t noticed_ns() const;
  WholeBuffer take_whole();
  MissingBuffers give_up();

  PendingBuffers pending_;
  std::optional<PendingMark> mark_;
  std::uint64_t next_ = 0;
  std::size_t held_bytes_ = 0;
  std::uint64_t reordered_ = 0;
  std::uint64_t highest_sequence_ = 0;
  std::uint32_t highest_offset_ = 0;
};

}  // namespace eventloom
