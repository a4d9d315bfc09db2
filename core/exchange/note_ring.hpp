#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/ring/ring_consumer.hpp"
#include "core/ring/ring_producer.hpp"

namespace eventloom {

/// Short notes through a ring, one per cell, as drawn in formats/control_wire.hpp.
class NoteSender {
 public:
  explicit NoteSender(RingProducer ring) : ring_(std::move(ring)), cells_(ring_.geometry().depth) {}

  [[nodiscard]] bool has_room() { return ring_.has_room(); }
  /// Requires has_room(). Copies `note`, which must fit a cell together with its checksum. Does not wait for it to
  /// arrive.
  void send(std::span<const std::byte> note);

 private:
  RingProducer ring_;
  std::vector<std::vector<std::byte>> cells_;  ///< sources of the puts, by place in the ring
};

class NoteReceiver {
 public:
  explicit NoteReceiver(const RingConsumer& ring) : ring_(ring) {}

  /// The oldest valid note that has arrived; a view until release(). Throws std::runtime_error if an announced note
  /// stays invalid for too long.
  [[nodiscard]] std::optional<std::span<const std::byte>> poll();
  void release();

 private:
  RingConsumer ring_;
};

}  // namespace eventloom
