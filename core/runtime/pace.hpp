#pragma once

#include <algorithm>
#include <chrono>

namespace eventloom {

/// Limits a thread to a share of a core, whatever its load: returns how long to rest after a piece of work. Unused time
/// accumulates, up to `most`. The caller owns the clocks.
class Pace {
 public:
  using Duration = std::chrono::duration<double>;

  Pace(double share, Duration most) : share_(share), most_(most), allowed_(most) {}

  /// `now`: any running clock; `used`: CPU time of the thread. Both count from the same start.
  Duration rest_after(Duration now, Duration used) {
    allowed_ = std::min(most_, allowed_ + share_ * (now - now_)) - (used - used_);
    now_ = now;
    used_ = used;
    return std::max(Duration(0), -allowed_ / share_);
  }

 private:
  double share_;
  Duration most_;
  Duration allowed_;
  Duration now_{0};
  Duration used_{0};
};

}  // namespace eventloom
