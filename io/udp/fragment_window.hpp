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

/// A stored epoch buffer put together again; nothing in it has been checked.
struct WholeBuffer {
  std::uint64_t sequence = 0;
  std::vector<std::byte> bytes;
};

/// Epoch buffers that were given up.
struct MissingBuffers {
  std::uint64_t n_buffers = 0;
  std::optional<EpochBufferHeader> header;  ///< of the one buffer, when its beginning has come and is intact
};

/// All epoch buffers before a mark have been given.
struct MarkReached {
  DatagramMark mark;
  bool end = false;
};

using WindowItem = std::variant<WholeBuffer, MissingBuffers, MarkReached>;

/// Brings the fragments of one session of a sender into order: put in as they come, taken out by rising
/// sequence. What is missing is waited for as long as the memory allows and the caller wants.
class FragmentWindow {
 public:
  /// Epoch buffers that may wait for one that is missing. Networks mend or lose within far less.
  static constexpr std::size_t kMostBuffers = 4096;
  /// Bytes that may wait, with what it costs to keep them: twice the greatest epoch buffer and some, so that one
  /// that misses a fragment does not keep the next from being put together.
  static constexpr std::size_t kMostBytes = std::size_t{kMaxSentBufferBytes} * 5 / 2;
  /// For each fragment: its place in the map and in the heap. So that many small ones do not slip through.
  static constexpr std::size_t kFragmentCost = 128;

  enum class Verdict { taken, duplicate, contradiction };
  /// A datagram of kind data. Contradiction: it does not fit the fragments that came before. Call next() until
  /// it gives nothing after each.
  Verdict put(const Datagram& datagram, std::int64_t now_ns);
  /// A datagram of kind mark or end.
  void put_mark(const Datagram& datagram, std::int64_t now_ns);

  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t kAlways = std::numeric_limits<std::int64_t>::max();
  /// The next in order. What is missing is given up when that was noticed at `noticed_by` or before, or when
  /// too much waits behind it.
  std::optional<WindowItem> next(std::int64_t noticed_by);

  /// Something waits: next() has more to give as time passes.
  [[nodiscard]] bool waiting() const { return !pending_.empty() || mark_; }
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }
  /// Fragments that came behind later ones.
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

  static Verdict place(const Pending& pending, const Datagram& datagram);
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
