#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "core/exchange/ring_news.hpp"
#include "core/exchange/slice_assembler.hpp"
#include "core/ring/ring_consumer.hpp"

namespace eventloom {

/// All chunks of a cell. False when a header is not valid.
bool read_chunks(Cell cell, std::vector<Chunk>& chunks);
/// Whether all bodies match their checksums, where they have one. A cell from another host has not arrived before.
bool bodies_match(const std::vector<Chunk>& chunks);

/// Drains the rings of one builder or filter, one per sending rank, into a SliceAssembler.
class Inbox {
 public:
  /// `step`: senders on other hosts hear of a new slice limit when it has risen by at least so much, at most half of
  /// what they may send ahead.
  explicit Inbox(std::vector<RingConsumer> rings, std::uint64_t step = 1);

  /// Takes the cells that have arrived, at most a ring's worth from each sender; returns their number. A cell that is
  /// not yet valid is left until it is; throws std::runtime_error when that takes too long, or when a valid cell was
  /// not granted.
  std::size_t drain(SliceAssembler& into);

  /// Grants the senders slices below `slice_limit` and the cells released; `eager`: those on this host, whenever there
  /// is news.
  void grant(SliceId slice_limit, bool eager);

 private:
  std::size_t drain(std::size_t ring, SliceAssembler& into);
  void grant_all();
  void place(const Chunk& chunk, SliceAssembler& into) const;

  std::vector<RingConsumer> rings_;
  RingNews news_;
  std::set<std::size_t> owing_;  ///< rings from this host that owe their senders a grant
  std::uint64_t step_;
  SliceId far_limit_{};    ///< what senders on other hosts have heard of it
  SliceId slice_limit_{};  ///< the senders may send slices below it
  std::vector<Chunk> chunks_;
};

}  // namespace eventloom
