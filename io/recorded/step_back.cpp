#include "io/recorded/step_back.hpp"

#include <algorithm>

namespace eventloom {

StepBack::StepBack(SeenTime& seen, Tick from, Tick to, Tick near)
    : seen_(seen), from_(from), to_(to), near_(near), foremost_(from), at_(to), farthest_(from - to) {
  seen.forget_rare();
  between_ = seen_.hits_between(to, from);
  take(to);
}

void StepBack::take(Tick time) {
  farthest_ = std::max(farthest_, foremost_ - std::min(foremost_, time));
  foremost_ = std::max(foremost_, time);
  if (back_) return;
  back_ = from_ - std::min(from_, time) <= near_;
  if (!back_) {
    ++hits_;
    inside_ += seen_.covers(time) ? 1 : 0;
  }
  if (time > at_) pass(at_, std::min(time, from_));
  if (time > at_ || at_ - time > near_) at_ = time;
}

/// Takes a step ahead over earlier hits.
void StepBack::pass(Tick from, Tick to) {
  constexpr double kShare = 0.125;
  constexpr double kFewest = 4;
  const double hits = seen_.hits_between(from, to);
  passed_ += hits;
  if (hits >= std::max(kShare * between_, kFewest)) leapt_ += hits;
  if (back_) last_leap_ = hits;
}

/// Whether the step leads to where the source began.
bool StepBack::begins_again() const {
  constexpr std::uint64_t kShare = 64;
  return to_ <= seen_.first() || (to_ - seen_.first()) <= (from_ - seen_.first()) / kShare;
}

bool StepBack::is_disorder() const {
  constexpr std::uint64_t kFrame = 20;  // damaged times are fewer
  if (begins_again()) {
    if (hits_ < kFrame) return false;
    const bool fills_gap = to_ > seen_.first_end() && kFrame * inside_ <= hits_;
    return fills_gap || (back_ && passed_ > 0 && 2 * last_leap_ >= passed_);
  }
  const bool leaps = back_ && passed_ > 0 && 2 * leapt_ >= passed_;
  return leaps || 4 * inside_ <= hits_;
}

}  // namespace eventloom
