#include "io/trb/trb_sequence.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace eventloom {

namespace {

constexpr std::size_t kGapsKept = 64;
/// The range of the counter's low bits, which flawed firmware wraps before it increments the high bits.
constexpr Tick kLowRange = 1 << 16;

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) { return {bytes.begin(), bytes.end()}; }

}  // namespace

/// The signed distance between two numbers as sent, by the shorter way around.
std::int64_t TrbSequence::step(std::uint32_t from, std::uint32_t to) const {
  const auto ahead = static_cast<std::int64_t>((Tick(to) - Tick(from)) % range_);
  return ahead > static_cast<std::int64_t>(range_ / 2) ? ahead - static_cast<std::int64_t>(range_) : ahead;
}

/// The non-negative extension of `number` that is nearest to `reference`.
Tick TrbSequence::extended(std::uint32_t number, Tick reference) const {
  const auto by = step(static_cast<std::uint32_t>(reference % range_), number);
  const auto back = Tick(std::abs(by));
  if (by >= 0) return reference + back;
  return reference >= back ? reference - back : reference - back + range_;
}

bool TrbSequence::is_near(Tick number) const {
  const Tick ahead = gaps_are_usual_ ? std::max(newest_, others_) : newest_;
  return number + kNear >= next_ && number <= ahead + kNear;
}

bool TrbSequence::is_flawed(Tick number) const {
  if (range_ == kLowRange || number % kLowRange != 0) return false;
  const auto meant = number + kLowRange;
  return meant <= newest_ + kMostHeld && meant + kMostHeld >= newest_;
}

void TrbSequence::take(std::uint32_t number, std::span<const std::byte> subevents, std::int64_t now_ns,
                       bool after_silence) {
  number = static_cast<std::uint32_t>(Tick(number) % range_);
  if (!placed_ || agrees_with_aside(number)) return set_aside(number, subevents, now_ns);
  const auto place = extended(number, after_silence ? std::max(newest_, others_) : newest_);
  const bool flawed = is_flawed(place);
  const auto meant = place + (flawed ? kLowRange : 0);
  if (!is_near(meant)) return set_aside(number, subevents, now_ns);
  drop_aside();
  if (put(meant, subevents, now_ns) && flawed) ++counters_[Metric::repaired_numbers];
}

/// Returns whether the event is kept.
bool TrbSequence::put(Tick number, std::span<const std::byte> subevents, std::int64_t now_ns) {
  if (number < next_ || held_.contains(number)) return refuse(number);
  if (number < newest_) ++counters_[Metric::reordered];
  newest_ = std::max(newest_, number);
  if (number == next_) {
    sink_.keep(number, subevents);
    ++next_;
    release();
  } else {
    held_[number] = {copy_of(subevents), now_ns};
  }
  while (newest_ >= next_ + kMostHeld) give_up();
  return true;
}

bool TrbSequence::refuse(Tick number) {
  const bool given_up =
      std::ranges::any_of(gaps_, [number](const Gap& gap) { return gap.begin <= number && number < gap.end; });
  ++counters_[given_up ? Metric::late_events : Metric::duplicates];
  return false;
}

/// Passes on held events whose predecessors have been decided.
void TrbSequence::release() {
  for (auto first = held_.begin(); first != held_.end() && first->first == next_; first = held_.erase(first)) {
    sink_.keep(next_, first->second.subevents);
    ++next_;
  }
}

/// Gives up the numbers missing before the first held event.
void TrbSequence::give_up() {
  const Tick found = held_.begin()->first;
  counters_[Metric::missing_numbers] += (found - next_).value;
  sink_.miss(next_, found);
  gaps_.push_back({next_, found});
  if (gaps_.size() > kGapsKept) gaps_.pop_front();
  next_ = found;
  release();
}

void TrbSequence::pass_time(std::int64_t now_ns) {
  if (gaps_are_usual_ && !aside_.empty()) accept_confirmed_aside(now_ns);
  while (!held_.empty() && now_ns - held_.begin()->second.ns >= kPatience_ns) give_up();
}

/// Accepts the events set aside if the run's foremost source has reached their place.
void TrbSequence::accept_confirmed_aside(std::int64_t now_ns) {
  const auto place = extended(aside_.front().number, std::max(newest_, others_));
  if (place >= next_ && is_near(place)) accept_aside(now_ns);
}

void TrbSequence::finish() {
  while (!held_.empty()) give_up();
  if (!placed_ && !aside_.empty()) accept_aside(0);
  while (!held_.empty()) give_up();
  drop_aside();
}

bool TrbSequence::agrees_with_aside(std::uint32_t number) const {
  return !aside_.empty() && std::abs(step(aside_.back().number, number)) <= static_cast<std::int64_t>(kNear);
}

void TrbSequence::set_aside(std::uint32_t number, std::span<const std::byte> subevents, std::int64_t now_ns) {
  const auto same = [number](const Aside& other) { return other.number == number; };
  if (std::ranges::any_of(aside_, same)) {
    ++counters_[Metric::duplicates];
    return;
  }
  if (!agrees_with_aside(number)) drop_aside();
  aside_.push_back({number, copy_of(subevents)});
  if (aside_.size() >= needed_aside()) accept_aside(now_ns);
}

/// A jump ahead by at most a quarter of the range may be a loss in transmission, and needs less evidence than others.
std::size_t TrbSequence::needed_aside() const {
  if (!placed_) return kAheadEvents;
  const auto ahead = step(static_cast<std::uint32_t>(newest_ % range_), aside_.front().number);
  return ahead > 0 && Tick(ahead) <= range_ / 4 ? kAheadEvents : kBackEvents;
}

void TrbSequence::drop_aside() {
  for (const auto& event : aside_) {
    ++counters_[Metric::out_of_step];
    sink_.leave_out(event.subevents);
  }
  aside_.clear();
}

/// Moves to the place of the events set aside.
void TrbSequence::accept_aside(std::int64_t now_ns) {
  while (!held_.empty()) give_up();
  auto aside = std::exchange(aside_, {});
  const auto any = aside.front().number;
  std::ranges::sort(aside, {}, [&](const Aside& event) { return step(any, event.number); });
  const auto first = aside.front().number;
  Tick place = extended(first, std::max(newest_, others_));
  const bool is_restart = placed_ && place < next_;
  if (is_restart) {
    place += range_;
    ++counters_[Metric::restarts];
    sink_.restart();
  }
  if (is_restart || !placed_) begin_with(place);
  for (const auto& event : aside) put(place + Tick(step(first, event.number)), event.subevents, now_ns);
}

void TrbSequence::begin_with(Tick first) {
  placed_ = true;
  next_ = newest_ = first;
  gaps_.clear();
}

}  // namespace eventloom
