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
  explicit Inbox(std::vector<RingConsumer> rings) : rings_(std::move(rings)), waited_(rings_.size()) {}

  /// Takes what has arrived, at most a ring's worth from each sender; returns the number of cells.
  /// A cell whose contents do not prove themselves is left until they do; throws std::runtime_error
  /// when that takes too long.
  std::size_t drain(SliceAssembler& into);

  /// Grants the senders slices below `window` and the cells released.
  void grant(SliceId window, bool eager);
  void settle();

 private:
  std::vector<RingConsumer> rings_;
  std::vector<std::uint64_t> waited_;  ///< polls for which the oldest cell has not proved itself
};

}  // namespace eventloom
