#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Default capacities: for hits, for events with time stamps, and for events built by number.
inline constexpr std::uint64_t kReorderHits = 1'000'000;
inline constexpr std::uint64_t kReorderStamped = 10'000;
inline constexpr std::uint64_t kReorderNumbered = 1;
inline constexpr std::uint64_t kMaxReorderHits = 1'000'000'000;

/// How late a hit may come and still be sorted: within either limit.
struct ReorderLimits {
  std::size_t hits = kReorderHits;               ///< number of hits
  Tick span = std::numeric_limits<Tick>::max();  ///< ticks; the reader guarantees that no hit is later than this
};

/// Sorts hits by time; hits of equal time keep the order of recording. Hits must be nearly in order: see ReorderLimits.
/// Holds the blocks of at most twice that number of hits or twice that span, plus one block. Payload is not copied.
class ReorderBuffer {
 public:
  /// `name` and `tick_ps` are for messages: the source's name, and its tick; 0: times are event numbers.
  ReorderBuffer(std::string name, ReorderLimits limits, std::uint64_t tick_ps);

  struct Hit {
    Tick time = 0;
    std::uint32_t channel = 0;
    std::span<const std::uint32_t> payload;  ///< valid until the next push()
  };
  /// Delivers the next hit. Returns false if another block or end() is needed, and at the end.
  bool next(Hit& hit);

  /// Returns an empty block that reuses the memory of a delivered one, if any.
  HitBlock spare();
  /// Takes the next block in recording order. Throws UserError when a hit is later than the buffer can handle; the
  /// message names the source, the number of the hit, and how late it is.
  void push(HitBlock block);
  /// Number of blocks pushed so far; wraps around.
  [[nodiscard]] std::uint32_t blocks_pushed() const {
    return first_block_ + static_cast<std::uint32_t>(blocks_.size());
  }
  /// Makes the first `blocks` of all blocks pushed stop waiting for earlier hits: next() delivers their hits, and those
  /// before them in time.
  void release(std::uint32_t blocks);
  /// Number of hits pushed but not delivered.
  [[nodiscard]] std::size_t waiting() const { return entries_.size() - used_; }
  /// Memory of the waiting hits and payload.
  [[nodiscard]] std::size_t held_bytes() const { return held_bytes_; }
  /// Time of the last delivered hit; earlier hits are late.
  [[nodiscard]] std::optional<Tick> given_to() const { return any_ ? std::optional(last_) : std::nullopt; }
  /// Ends the input: no more blocks follow.
  void end() { ended_ = true; }

 private:
  struct Entry {
    Tick time;
    std::uint32_t block;  ///< number of the block in the stream, low 32 bits
    std::uint32_t item;
  };

  [[nodiscard]] bool enough_held() const;
  [[nodiscard]] std::size_t settled() const;
  bool sort_held();
  void sort_entries();
  void drop_used();
  void require_sortable(const HitBlock& block) const;
  [[nodiscard]] const HitBlock& block_of(const Entry& entry) const { return blocks_[entry.block - first_block_]; }

  std::string name_;
  ReorderLimits limits_;
  std::uint64_t tick_ps_;
  std::deque<HitBlock> blocks_;    ///< blocks in recording order
  std::uint32_t first_block_ = 0;  ///< number of blocks_.front()
  std::vector<HitBlock> spares_;
  std::vector<Entry> entries_;
  std::size_t sorted_ = 0;    ///< number of entries_ at the front that are sorted by time
  std::size_t used_ = 0;      ///< number of delivered entries_
  std::size_t ready_ = 0;     ///< number of entries_ that may be delivered
  std::uint64_t pushed_ = 0;  ///< number of hits pushed
  std::size_t held_bytes_ = 0;
  Tick newest_ = 0;  ///< greatest time pushed
  Tick last_ = 0;    ///< time of the last hit delivered
  bool any_ = false;
  bool ended_ = false;
  std::optional<std::uint32_t> released_;  ///< argument of release(), until it is processed
};

}  // namespace eventloom
