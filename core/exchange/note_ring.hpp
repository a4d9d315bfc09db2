#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "core/ring/ring_consumer.hpp"
#include "core/ring/ring_producer.hpp"

namespace eventloom {

/// Short notes through a ring, one per cell, as drawn in formats/control_wire.hpp. For control data, where a note is
/// worth a flush of its own.
class NoteSender {
 public:
  explicit NoteSender(RingProducer ring) : ring_(std::move(ring)) {}

  [[nodiscard]] bool has_credit() { return ring_.credits() > 0; }
  /// Needs has_credit(), and a publish() since the last one. Copies `note`, which with its checksum must fit a cell.
  void write(std::span<const std::byte> note);
  /// Notifies the receiver of the note. Waits until it has arrived: who has notes for many writes all of them first.
  void publish() { ring_.publish(); }
  void send(std::span<const std::byte> note) {
    write(note);
    publish();
  }
  void flush() { ring_.flush(); }

 private:
  RingProducer ring_;
  std::vector<std::byte> cell_;
};

class NoteReceiver {
 public:
  explicit NoteReceiver(const RingConsumer& ring) : ring_(ring) {}

  /// The oldest valid note that has arrived; a view until release(). Throws std::runtime_error when an announced note
  /// stays invalid for too long.
  [[nodiscard]] std::optional<std::span<const std::byte>> poll();
  void release();
  void flush() { ring_.flush(); }

 private:
  RingConsumer ring_;
};

}  // namespace eventloom
