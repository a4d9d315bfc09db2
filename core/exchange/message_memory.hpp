#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/exchange/outbox.hpp"

namespace eventloom {

/// Holds the memory from which the messages of one outbox are put, one T per message. A T is reused once the puts that
/// read it are complete: after a flush if the receiver is on this host; otherwise there is a T per message in flight.
template <class T>
class MessageMemory {
 public:
  /// Returns the T of the last message, or an empty one before the first message.
  [[nodiscard]] T& last() {
    if (all_.empty()) all_.emplace_back();
    return all_.back().memory;
  }
  /// Returns a T that no put reads, for the next message: an empty one, or that of an earlier message. The outbox must
  /// be free.
  T& next(Outbox& outbox) {
    if (all_.empty()) return last();
    all_.back().cells = outbox.cells();
    if (outbox.is_near()) outbox.settle();
    if (outbox.complete_cells() < all_.front().cells) {
      all_.emplace_back();
    } else {
      all_.push_back(std::move(all_.front()));
      all_.pop_front();
    }
    return all_.back().memory;
  }

 private:
  struct OfMessage {
    T memory;
    std::uint64_t cells = 0;  ///< cells used by the outbox, up to the end of the message; not yet set for the last one
  };
  std::deque<OfMessage> all_;  ///< ordered by message
};

}  // namespace eventloom
