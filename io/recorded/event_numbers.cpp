#include "io/recorded/event_numbers.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace eventloom {

namespace {

/// How many of the latest numbers are remembered as used or not.
constexpr Tick kRemembered = 1 << 16;
/// Largest jump allowed for the last event of a stream.
constexpr Tick kUnconfirmedJump = 1000;
/// Largest step allowed from the first event to the second; a wrong first number would shift all others.
constexpr std::int64_t kFirstStep = 1 << 24;

/// Place of a number among the remembered ones.
std::size_t place_of(Tick number) { return static_cast<std::size_t>(number % kRemembered); }

}  // namespace

EventNumbers::EventNumbers(unsigned bits) : bits_(bits), used_(static_cast<std::size_t>(kRemembered), false) {}

std::int64_t EventNumbers::step_to(std::uint32_t number) const {
  const unsigned spare = 64 - bits_;
  return static_cast<std::int64_t>((Tick(number) - (last_ - offset_)).value << spare) >> spare;
}

std::optional<std::int64_t> EventNumbers::step(std::uint32_t number) const {
  return any_ ? std::optional(step_to(number)) : std::nullopt;
}

Tick EventNumbers::begin_era(std::uint32_t number) {
  offset_ = (last_ / kEraTicks + 1) * kEraTicks;
  last_ = believed_ = offset_ + Tick(number);
  std::fill(used_.begin(), used_.end(), false);
  used_[place_of(last_)] = true;
  at_hand_ = true;
  doubted_ = first_ = false;
  return last_;
}

void EventNumbers::raise(Tick by) {
  for (auto* number : {&offset_, &last_, &believed_, &lowest_}) *number += by;
}

bool EventNumbers::repeats(std::uint32_t number) const { return at_hand_ && step_to(number) == 0; }

bool EventNumbers::used(Tick number) const { return number + kRemembered > believed_ && used_[place_of(number)]; }

DropCause EventNumbers::drop(DropCause cause) {
  if (cause == DropCause::duplicate) ++counters_[Metric::duplicate_numbers];
  if (cause == DropCause::repeated_incomplete) ++counters_[Metric::repeated_incomplete];
  if (cause == DropCause::out_of_step) ++counters_[Metric::out_of_step];
  return cause;
}

/// Marks the numbers from `begin` to `end`, at most kRemembered of them, as unused.
void EventNumbers::clear(Tick begin, Tick end) {
  const auto place = [this](Tick number) { return used_.begin() + static_cast<std::ptrdiff_t>(place_of(number)); };
  if (begin >= end) return;
  if (place(begin) < place(end)) {
    std::fill(place(begin), place(end), false);
  } else {
    std::fill(place(begin), used_.end(), false);
    std::fill(used_.begin(), place(end), false);
  }
}

/// Confirms the last event.
void EventNumbers::believe() {
  doubted_ = false;
  if (first_) {
    lowest_ = believed_ = last_;
  } else {
    counters_[Metric::missing_numbers] += (last_ - believed_ - 1).value;
    const Tick skipped = std::max(believed_ + 1, last_ - std::min(last_, kRemembered));
    clear(skipped, last_);
    believed_ = last_;
  }
  first_ = false;
  used_[place_of(last_)] = true;
}

/// Takes a number that goes back from last_.
void EventNumbers::note_wrap(std::uint32_t number) {
  constexpr unsigned kNear = 8;  // within this part of 2^N of its ends
  const Tick from = last_ - offset_;
  const auto bits = static_cast<unsigned>(std::bit_width(from.value));
  if (bits < kFewestBits || bits >= bits_) return;
  const auto period = std::uint64_t{1} << bits;
  if (from.value >= period - period / kNear && number <= period / kNear) narrower_ = bits;
}

std::optional<unsigned> EventNumbers::narrower() {
  const auto bits = std::exchange(narrower_, 0U);
  const bool beyond = bits != 0 && (last_ - offset_).value >> bits != 0;
  return bits == 0 || beyond ? std::nullopt : std::optional(bits);
}

EventNumbers::Judgement EventNumbers::judge_first(std::uint32_t number) {
  any_ = first_ = doubted_ = at_hand_ = true;
  last_ = Tick(number);
  return {.previous = std::nullopt, .current = std::nullopt, .tick = last_};
}

/// Drops the doubted event and returns true if `number` cannot follow it.
bool EventNumbers::take_back(std::uint32_t number) {
  if (!doubted_) return false;
  const auto step = step_to(number);
  const bool follows = step >= 0 && (!first_ || step <= kFirstStep);
  if (!follows) {
    drop(DropCause::out_of_step);
    doubted_ = at_hand_ = false;
    last_ = believed_;
    return true;
  }
  if (step > 0) believe();
  return false;
}

EventNumbers::Judgement EventNumbers::judge(std::uint32_t number, bool completes_previous) {
  if (!any_) return judge_first(number);
  Judgement result;
  if (take_back(number)) {
    result.previous = DropCause::out_of_step;
    if (first_) {
      result.tick = judge_first(number).tick;
      return result;
    }
  }
  const auto step = step_to(number);
  const Tick back(-step);
  if (step < 0) note_wrap(number);
  if (step == 0 && completes_previous && at_hand_) {
    result.previous = drop(DropCause::repeated_incomplete);
  } else if (step == 0 || (step < 0 && back <= last_ && used(last_ - back))) {
    result.current = drop(DropCause::duplicate);
  } else if (step < 0) {
    result.current = drop(DropCause::out_of_step);
  } else {
    last_ += Tick(step);
    doubted_ = at_hand_ = true;
    if (step == 1) believe();
  }
  result.tick = last_;
  return result;
}

bool EventNumbers::stays() const { return !doubted_ || first_ || last_ - believed_ <= kUnconfirmedJump + 1; }

void EventNumbers::confirm(Tick number) {
  if (doubted_ && last_ <= number + kUnconfirmedJump) believe();
}

std::optional<DropCause> EventNumbers::finish() {
  if (!doubted_) return std::nullopt;
  if (stays()) {
    believe();
    return std::nullopt;
  }
  doubted_ = false;
  last_ = believed_;
  return drop(DropCause::out_of_step);
}

Counters EventNumbers::counters() const {
  auto counters = counters_;
  if (any_) counters.keep({{Metric::first_number, first()->value}, {Metric::last_number, last_.value}});
  return counters;
}

}  // namespace eventloom
