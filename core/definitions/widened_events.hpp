#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>

#include "core/definitions/event_list.hpp"
#include "core/definitions/hit_search.hpp"

namespace eventloom {

/// Lengths by which intervals are widened.
struct Widening {
  Tick pre = 0;
  Tick post = 0;

  [[nodiscard]] bool any() const { return pre != 0 || post != 0; }
  /// ",3,5" for texts of definitions; empty when there is none.
  [[nodiscard]] std::string text() const {
    return any() ? "," + std::to_string(pre) + "," + std::to_string(post) : std::string();
  }
};

/// Makes events of closed intervals of time that begin with hits, given with their hits and with neither end falling:
/// each is widened, those that share a tick then become one, and the event is all hits in it.
class WidenedEvents {
 public:
  WidenedEvents(std::span<const HitKey> keys, Widening widening, EventList& events)
      : keys_(keys), widening_(widening), events_(events) {}

  /// The interval from its first hit to the tick `last`. False when no later one can make an event of the slice.
  bool add(EventRange hits, std::uint64_t last) {
    const std::uint64_t from = tick_of(keys_[hits.begin]);
    const std::uint64_t begin = from - std::min<std::uint64_t>(from, widening_.pre);
    const bool apart = !open_ || begin > end_;
    const bool more = !apart || finish();
    if (apart) {
      open_ = true;
      hits_.begin = hits.begin;
      begin_ = begin;
    }
    hits_.end = hits.end;
    end_ = last + widening_.post;
    return more;
  }

  /// After the last interval. False as above.
  bool finish() {
    if (!open_) return true;
    open_ = false;
    if (!widening_.any()) return events_.add_run(hits_);
    return events_.add_run({seek_backward(keys_, hits_.begin, begin_), seek_forward(keys_, hits_.end, end_ + 1)});
  }

 private:
  std::span<const HitKey> keys_;
  Widening widening_;
  EventList& events_;
  bool open_ = false;  ///< there is an interval that may grow
  EventRange hits_;    ///< of the intervals, not widened
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
};

}  // namespace eventloom
