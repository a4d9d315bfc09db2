#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "core/exchange/ring_news.hpp"
#include "core/exchange/slice_assembler.hpp"
#include "core/ring/ring_consumer.hpp"

namespace eventloom {

/// Reads all chunks of a cell. Returns false if a header is invalid.
bool read_chunks(Cell cell, std::vector<Chunk>& chunks);
/// Whether all bodies that have a checksum match it. Until then, a cell from another host has not arrived.
bool bodies_match(const std::vector<Chunk>& chunks);

/// Drains the rings of one builder or filter, one per sending rank, into a SliceAssembler.
class Inbox {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;
  /// `step`: senders on other hosts are informed of a new slice limit once it has risen by this much; at most
  /// half of what they may send ahead.
  explicit Inbox(std::vector<RingConsumer> rings, std::uint64_t step = 1);

  /// Takes the cells that have arrived, at most a ring's worth from each sender; returns their number. A cell that is
  /// not yet valid is left until it is; throws std::runtime_error if that takes too long, or if a valid cell was not
  /// granted.
  std::size_t drain(SliceAssembler& into);

  /// Grants the senders slices below `slice_limit` and the cells released; `eager`: informs those on this host of any
  /// change.
  void grant(SliceId slice_limit, bool eager);
  /// Informs the senders on other hosts of all released cells, 5 us after the first call that finds some; until then
  /// they count as in flight. In a steady stream drain() informs senders sooner, once half a ring has been released.
  void grant_far(SteadyTime now);
  /// When to call grant_far() again, as of its last call; SteadyTime::max() if nothing is due.
  [[nodiscard]] SteadyTime due() const;

 private:
  std::size_t drain(std::size_t ring, SliceAssembler& into);
  void grant_all();
  void place(const Chunk& chunk, SliceAssembler& into) const;

  std::vector<RingConsumer> rings_;
  RingNews news_;
  std::set<std::size_t> owing_;            ///< rings from this host whose senders await a grant
  std::set<std::size_t> owing_far_;        ///< likewise, from other hosts
  std::optional<SteadyTime> owing_since_;  ///< when grant_far() first saw owing_far_ not empty
  std::uint64_t step_;
  SliceId far_limit_{};    ///< slice limit last announced to senders on other hosts
  SliceId slice_limit_{};  ///< the senders may send slices below it
  std::vector<Chunk> chunks_;
};

}  // namespace eventloom
