#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <variant>
#include <vector>

#include "formats/datagram_reply.hpp"
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
  std::optional<EpochBufferHeader> header;  ///< if only one buffer is missing and its header was received intact
};

/// All epoch buffers before a mark have been returned.
struct MarkReached {
  DatagramMark mark;
  bool end = false;
};

using ReassembledItem = std::variant<WholeBuffer, MissingBuffers, MarkReached>;

/// Reassembles the epoch buffers of one session of a sender from fragments added in any order, and returns them by
/// ascending sequence number. Waits for missing data as long as memory and the caller allow.
class ReassemblyBuffer {
 public:
  /// Most epoch buffers that wait for a missing one. Networks deliver or lose data within far fewer.
  static constexpr std::size_t kMostBuffers = 4096;
  /// Most bytes that wait, including overhead: more than twice the largest epoch buffer, so that an incomplete buffer
  /// does not prevent reassembly of the next.
  static constexpr std::size_t kMostBytes = std::size_t{kMaxSentBufferBytes} * 5 / 2;
  /// Overhead of a fragment in map and heap; bounds the memory of many small fragments.
  static constexpr std::size_t kFragmentCost = 128;

  enum class Placement { taken, duplicate, contradiction };
  /// Adds a datagram of kind data. Contradiction: it does not fit earlier fragments. After each call, call next() until
  /// it returns std::nullopt.
  Placement put(const Datagram& datagram, std::int64_t now_ns);
  /// Adds a datagram of kind mark or end.
  void put_mark(const Datagram& datagram, std::int64_t now_ns);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
  /// The next item in order. Gives up missing data that were noticed at `noticed_by` or before, or that hold back too
  /// much data.
  std::optional<ReassembledItem> next(std::int64_t noticed_by);

  /// Missing pieces of the epoch buffers before the last one known to have been sent, ascending, at most `most`; what
  /// was sent before the first datagram received only `from_beginning`.
  [[nodiscard]] std::vector<MissingPiece> missing(std::size_t most, bool from_beginning) const;

  /// Number of the first epoch buffer that was neither returned nor given up.
  [[nodiscard]] std::uint64_t next_sequence() const { return next_; }
  /// Whether data are waiting, so that next() may return more as time passes.
  [[nodiscard]] bool waiting() const { return !pending_.empty() || mark_; }
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }
  /// Number of fragments that arrived after later ones.
  [[nodiscard]] std::uint64_t reordered() const { return reordered_; }

 private:
  struct Pending {
    std::uint32_t whole = 0;  ///< bytes of the epoch buffer
    std::uint32_t have = 0;
    std::int64_t first_ns = 0;
    std::int64_t last_ns = 0;
    std::map<std::uint32_t, std::vector<std::byte>> fragments;  ///< non-overlapping, by offset
  };
  using PendingBuffers = std::map<std::uint64_t, Pending>;
  struct PendingMark {
    std::uint64_t sequence = 0;
    std::int64_t noticed_ns = 0;
    MarkReached reached;
  };

  static Placement place(const Pending& pending, const Datagram& datagram);
  static std::vector<std::byte> joined(Pending& pending);
  static void add_holes(const PendingBuffers::value_type& buffer, bool passed, std::vector<MissingPiece>& out);
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
