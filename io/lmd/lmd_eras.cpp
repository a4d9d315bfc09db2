#include "io/lmd/lmd_eras.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "formats/crc32c.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLast = std::size_t{1} << 16;
constexpr std::size_t kFirst = 4096;
constexpr std::uint16_t kStart = 14;
constexpr std::uint16_t kStop = 15;
/// Events are compared by the first bytes of each subevent's data, up to this number.
constexpr std::size_t kDistinctiveBytes = 64;

std::uint32_t checksum_of(const LmdEvent& event) {
  const std::array<std::uint32_t, 2> head{event.trigger, event.dlen};
  std::uint32_t checksum = crc32c(std::as_bytes(std::span(head)));
  for (const auto& sub : event.subevents) {
    const std::array<std::uint32_t, 2> what{sub.id(), sub.dlen};
    checksum = crc32c(std::as_bytes(std::span(what)), checksum);
    checksum = crc32c(sub.data.first(std::min(sub.data.size(), kDistinctiveBytes)), checksum);
  }
  return checksum;
}

}  // namespace

LmdEras::LmdEras(EraRule rule) : rule_(rule), last_(kLast) {}

LmdEras::EraStep LmdEras::judge(const LmdEvent& event, std::uint32_t number, std::optional<std::int64_t> step) {
  if (!step || *step > 0) {
    reconnected_ = repeating_ = false;
    return EraStep::continues;
  }
  if (reconnected_) return judge_reconnected(event, number);
  return begins_by_trigger(event.trigger, *step) ? EraStep::begins_era : EraStep::continues;
}

/// A repeated number does not open an era by itself: it may be a second copy of the same event.
bool LmdEras::begins_by_trigger(std::uint16_t trigger, std::int64_t step) const {
  if (trigger == kStart && trigger_ != kStart) return true;
  const bool at_border = trigger_ == kStart || trigger_ == kStop;
  return at_border && (step < 0 || trigger != trigger_);
}

LmdEras::EraStep LmdEras::judge_reconnected(const LmdEvent& event, std::uint32_t number) {
  if (rule_ == EraRule::repeats) return EraStep::comes_again;
  const auto* before = remembered(number);
  const bool known_again = before != nullptr ? before->is_of(checksum_of(event)) : repeating_;
  repeating_ = rule_ == EraRule::automatic && known_again;
  return repeating_ ? EraStep::comes_again : EraStep::begins_era;
}

const LmdEras::Print* LmdEras::remembered(std::uint32_t number) const {
  const auto& last = last_[number % kLast];
  if (last.any && last.number == number) return &last;
  if (first_.empty()) return nullptr;
  // first_ is sorted by number, which may wrap around.
  const auto place = [begin = first_.front().number](const Print& print) { return print.number - begin; };
  const auto first = std::ranges::lower_bound(first_, place({.number = number}), {}, place);
  const bool found = first != first_.end() && first->number == number;
  return found ? &*first : nullptr;
}

void LmdEras::keep(const LmdEvent& event, std::uint32_t number, bool begins_era) {
  if (begins_era) {
    std::ranges::fill(last_, Print{});
    first_.clear();
    reconnected_ = repeating_ = false;
  }
  const auto checksum = checksum_of(event);
  auto& last = last_[number % kLast];
  const bool second = last.any && last.number == number;
  last = {number, checksum, second ? last.first_checksum : checksum, true};
  if (second && !first_.empty() && first_.back().number == number) {
    first_.back() = last;
  } else if (first_.size() < kFirst) {
    first_.push_back(last);
  }
  trigger_ = event.trigger;
}

}  // namespace eventloom
