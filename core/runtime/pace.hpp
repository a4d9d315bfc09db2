#pragma once

#include <algorithm>
#include <chrono>

namespace eventloom {

/// Keeps a thread to a share of a core, however much it is given to do: says how long to rest after a piece of work.
/// What it has not used it may use later, up to `most`. The caller owns the clocks.
class Pace {
 public:
  using Duration = std::chrono::duration<double>;

  Pace(double share, Duration most) : share_(share), most_(most), allowed_(most) {}

  /// `now`: any clock that goes on; `used`: CPU time of the thread. Both since one beginning.
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
