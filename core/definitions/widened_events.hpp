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
  /// Formats as ",3,5" for texts of definitions; empty without widening.
  [[nodiscard]] std::string text() const {
    return any() ? "," + std::to_string(pre.value) + "," + std::to_string(post.value) : std::string();
  }
};

/// Makes events of closed time intervals that begin with hits, given with their hits; begins and ends must not
/// decrease. Each interval is widened, those that then share a tick are joined, and the event is all hits in the
/// result.
class WidenedEvents {
 public:
  WidenedEvents(std::span<const HitKey> keys, Widening widening, EventList& events)
      : keys_(keys), widening_(widening), events_(events) {}

  /// Adds the interval from its first hit to the tick `last`. Returns false once no later one can make an event of the
  /// slice.
  bool add(EventRange hits, Tick last) {
    const Tick from = tick_of(keys_[hits.begin]);
    const Tick begin = from - std::min(from, widening_.pre);
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

  /// Call after the last interval. Returns false like add().
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
  EventRange hits_;    ///< hits of the intervals, not widened
  Tick begin_ = 0;
  Tick end_ = 0;
};

}  // namespace eventloom
