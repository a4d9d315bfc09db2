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

  /// Takes what has arrived, at most a ring's worth from each sender; returns the number of cells.
  /// A cell whose contents do not prove themselves is left until they do; throws std::runtime_error
  /// when that takes too long, or when they prove something that was not granted.
  std::size_t drain(SliceAssembler& into);

  /// Grants the senders slices below `window` and the cells released.
  void grant(SliceId window, bool eager);
  void settle();

 private:
  void place(const Chunk& chunk, SliceAssembler& into) const;

  std::vector<RingConsumer> rings_;
  SliceId window_{};  ///< the senders may send slices below it
};

}  // namespace eventloom
