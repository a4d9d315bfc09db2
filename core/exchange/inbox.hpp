#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/exchange/slice_assembler.hpp"
#include "core/ring/ring_consumer.hpp"

namespace eventloom {

/// Drains the rings of one builder or filter, one per sending rank, into a SliceAssembler.
class Inbox {
 public:
  explicit Inbox(std::vector<RingConsumer> rings) : rings_(std::move(rings)) {}

  /// Takes the cells that have arrived, at most a ring's worth from each sender; returns their number. A cell that is
  /// not yet valid is left until it is; throws std::runtime_error when that takes too long, or when a valid cell was
  /// not granted.
  std::size_t drain(SliceAssembler& into);

  /// Grants the senders slices below `slice_limit` and the cells released.
  void grant(SliceId slice_limit, bool eager);
  void flush();

 private:
  void place(const Chunk& chunk, SliceAssembler& into) const;

  std::vector<RingConsumer> rings_;
  SliceId slice_limit_{};  ///< the senders may send slices below it
};

}  // namespace eventloom
