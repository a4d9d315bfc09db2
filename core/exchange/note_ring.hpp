#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/ring/ring_consumer.hpp"
#include "core/ring/ring_producer.hpp"

namespace eventloom {

/// Short notes through a ring, one per cell, as formats/control_wire.hpp draws them. For control data, where a note is
/// worth a flush of its own.
class NoteSender {
 public:
  explicit NoteSender(RingProducer ring) : ring_(std::move(ring)) {}

  [[nodiscard]] bool ready() { return ring_.credits() > 0; }
  /// Needs ready(). Copies `note`, which with its checksum must fit a cell.
  void send(std::span<const std::byte> note);
  void settle() { ring_.settle(); }

 private:
  RingProducer ring_;
  std::vector<std::byte> cell_;
};

class NoteReceiver {
 public:
  explicit NoteReceiver(const RingConsumer& ring) : ring_(ring) {}

  /// The oldest note that has arrived and proves itself; a view until release(). Throws std::runtime_error
  /// when one that has been announced does not prove itself for too long.
  [[nodiscard]] std::optional<std::span<const std::byte>> poll();
  void release();
  void settle() { ring_.settle(); }

 private:
  RingConsumer ring_;
};

}  // namespace eventloom
