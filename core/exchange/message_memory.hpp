#pragma once

#include <cstdint>
#include <deque>
#include <utility>

#include "core/exchange/outbox.hpp"

namespace eventloom {

/// What the messages of one outbox are put from, a T for each. A T is reused once the puts that read it are complete.
/// Within a host that takes a flush; between hosts there are as many as messages under way.
template <class T>
class MessageMemory {
 public:
  /// Of the last message; before the first one, an empty T.
  [[nodiscard]] T& last() {
    if (all_.empty()) all_.emplace_back();
    return all_.back().memory;
  }
  /// For the next message: a T that no put reads, empty or that of an earlier message. The outbox must be free.
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
    std::uint64_t cells = 0;  ///< cells used by the outbox, up to the end of the message; unknown for the last one
  };
  std::deque<OfMessage> all_;  ///< ordered by message
};

}  // namespace eventloom
