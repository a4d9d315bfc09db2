#include "io/recorded/step_back.hpp"

#include <algorithm>
#include <utility>

namespace eventloom {

namespace {

bool any_common(const std::unordered_set<std::uint32_t>& a, const std::unordered_set<std::uint32_t>& b) {
  return std::ranges::any_of(a, [&](std::uint32_t channel) { return b.contains(channel); });
}

}  // namespace

void Restarts::run_on(Tick first, Tick last) {
  if (!std::exchange(any_, true)) first_ = begin_ = first;
  last_ = last;
  end_ = std::max(end_, last);
  most_ = std::max(most_, last);
}

/// Whether the stretch since the last step back begins where the times began, covers half of those so far, and goes
/// little beyond them.
bool Restarts::repeats() const {
  constexpr std::uint64_t kShare = 2;
  const Tick length = end_ - begin_;
  const Tick beyond = end_ - std::min(before_, end_);
  return near_first_ && kShare * length >= most_ - first_ && 2 * beyond <= length;
}

bool Restarts::may_be(Tick span) const {
  const auto repeats_so_far = repeats_ + (steps_back_ != 0 && repeats() ? 1 : 0);
  return most_ - first_ <= span && 2 * repeats_so_far > steps_back_;
}

bool Restarts::take(Tick time) {
  constexpr std::uint64_t kShare = 4;  // part of the times so far, at either end
  const bool back = any_ && time < last_ && last_ - time > apart_;
  const Tick share = (most_ - first_) / kShare;
  const Tick from_first = time > first_ ? time - first_ : first_ - time;
  const bool again = back && most_ - last_ <= share && from_first <= share;
  if (back) {
    repeats_ += steps_back_ != 0 && repeats() ? 1 : 0;
    before_ = most_;
    begin_ = end_ = time;
    near_first_ = 2 * from_first <= most_ - first_;
  }
  steps_back_ += back ? 1 : 0;
  restarts_ += again ? 1 : 0;
  first_ = any_ ? std::min(first_, time) : time;
  run_on(time, time);
  return again;
}

void ShortRestarts::run_on(std::span<const Tick> times, std::span<const std::uint32_t> channels) {
  for (std::size_t i = 0; i < times.size(); ++i) go_on(times[i], channels[i]);
}

void ShortRestarts::go_on(Tick time, std::uint32_t channel) {
  if (!first_) first_ = time;
  last_ = time;
  most_ = std::max(most_, time);
  ++hits_;
  now_.insert(channel);
}

void ShortRestarts::end_stretch() {
  if (!first_most_) first_most_ = most_;
  fewest_ = fewest_ == 0 ? hits_ : std::min(fewest_, hits_);
  hits_ = 0;
  recur_ = recur_ || any_common(now_, channels_);
  channels_.merge(now_);
  now_.clear();
}

void ShortRestarts::take(Tick time, std::uint32_t channel) {
  constexpr std::uint64_t kShare = 8;  // part of the times so far, at either end
  if (first_ && time < last_) {
    const Tick share = (most_ - std::min(*first_, most_)) / kShare;
    const Tick from_first = time > *first_ ? time - *first_ : *first_ - time;
    if (most_ - last_ <= share && from_first <= share) {
      end_stretch();
    } else if (last_ - time > share) {
      others_ = true;
    }
  }
  go_on(time, channel);
}

std::optional<ShortRestarts::Found> ShortRestarts::found() const {
  constexpr std::uint64_t kFewest = 20;  // damaged times and hits of one event are fewer
  constexpr std::uint64_t kShare = 8;
  const bool alike = first_most_ && fewest_ >= kFewest && hits_ >= kFewest && !others_ &&
                     most_ - *first_most_ <= (*first_most_ - *first_) / kShare;
  if (!alike) return std::nullopt;
  return Found{*first_most_, recur_ || any_common(now_, channels_)};
}

void OrderBehind::take(Tick time) {
  const bool back = hits_++ != 0 && time < at_ && at_ - time > near_;
  back_ += back ? 1 : 0;
  at_ = back ? time : std::max(at_, time);
  most_ = std::max(most_, time);
  farthest_ = std::max(farthest_, most_ - time);
}

bool OrderBehind::is_none() const {
  constexpr std::uint64_t kFewest = 3;
  constexpr std::uint64_t kShare = 8;
  return back_ >= kFewest && kShare * back_ >= hits_;
}

StepBack::StepBack(SeenTime& seen, Tick from, Tick to, Tick near)
    : seen_(seen), restarts_(near), from_(from), to_(to), near_(near), foremost_(from), at_(to), farthest_(from - to) {
  seen.forget_rare();
  between_ = seen_.hits_between(to, from);
  restarts_.run_on(seen.first(), from);
  take(to);
}

void StepBack::take(Tick time) {
  farthest_ = std::max(farthest_, foremost_ - std::min(foremost_, time));
  foremost_ = std::max(foremost_, time);
  restarts_.take(time);
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
  passes_ += hits >= 1 ? 1 : 0;
  if (hits >= std::max(kShare * between_, kFewest)) leapt_ += hits;
  if (back_) last_leap_ = hits;
}

/// Whether the step leads to where the source began.
bool StepBack::begins_again() const {
  constexpr std::uint64_t kShare = 64;
  return to_ <= seen_.first() || (to_ - seen_.first()) <= (from_ - seen_.first()) / kShare;
}

/// Whether the clock begins again and again, or once and then runs on through the times before.
bool StepBack::restarts() const {
  constexpr std::uint64_t kRunsOn = 2;
  if (!restarts_.are_single()) return restarts_.are_most();
  return passes_ >= kRunsOn && !(back_ && 2 * last_leap_ >= passed_);
}

bool StepBack::is_disorder() const {
  if (restarts()) return false;
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
