#include "core/dataflow/dead_time.hpp"

#include <algorithm>

namespace eventloom {

void PossibleDeadTimes::restart(Tick begin, Tick dead) {
  open_ = true;
  open_until_ = begin + dead;
  ready_.clear();
}

void PossibleDeadTimes::see(Tick time, Tick dead) {
  const auto waiting = std::ranges::upper_bound(ready_, time);
  const bool counts = open_ || waiting != ready_.begin();
  open_ = open_ && time < open_until_;
  ready_.erase(ready_.begin(), waiting);
  const Tick next = time + dead;
  if (counts && (ready_.empty() || ready_.back() != next)) ready_.push_back(next);
}

bool ChannelDeadTime::take(Tick time, Tick dead) {
  const std::uint64_t block = time / (kDeadTimesPerBlock * dead);
  if (block != block_) enter(block, dead);
  next_.see(time, dead);
  if (time < ready_) return false;
  ready_ = time + dead;
  return true;
}

void ChannelDeadTime::enter(std::uint64_t block, Tick dead) {
  const Tick begin = block * kDeadTimesPerBlock * dead;
  const bool follows = block == block_ + 1;
  ready_ = follows && next_.is_certain() ? next_.ready() : begin;
  next_.restart(begin, dead);
  block_ = block;
}

}  // namespace eventloom
