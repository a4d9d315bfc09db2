#include "io/recorded/clock_turns.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "core/runtime/error.hpp"
#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

constexpr unsigned kLeastBits = 8;
constexpr unsigned kMostBits = 63;
constexpr std::uint64_t kMostPeriod = std::uint64_t{1} << kMostBits;
constexpr std::uint64_t kMostFirstTurn = 1'000'000'000;
/// A number may precede the first one of a file by less than this part of a turn.
constexpr std::uint64_t kPartLate = 8;

/// Parses and removes a number at the front: decimal, or hexadecimal with the prefix 0x.
std::optional<std::uint32_t> take_channel_or_bits(std::string_view& text) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  const auto digits = text.substr(hex ? 2 : 0);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

[[noreturn]] void refuse_bits(const SourceUri& uri) {
  uri.refuse("bits=" + uri.get("bits", "") + ": give the width of the counter, " + std::to_string(kLeastBits) + " to " +
             std::to_string(kMostBits) + " bits: bits=32, or by channels: bits=0-15:32,16-31:48; bits=none if it " +
             "never starts again");
}

}  // namespace

bool ClockTurns::are_stated(const SourceUri& uri) {
  return uri.has("modulus") || (uri.has("bits") && !are_denied(uri));
}

bool ClockTurns::are_denied(const SourceUri& uri) { return uri.get("bits", "") == "none"; }

std::uint64_t ClockTurns::first_turn_of(const SourceUri& uri) { return uri.get_count("turns", 0, 0, kMostFirstTurn); }

ClockTurns::ClockTurns(const SourceUri& uri) : first_turn_(first_turn_of(uri)), skips_bad_(uri.get_yes("skip-bad")) {
  if (uri.has("modulus") && uri.has("bits")) uri.refuse("bits= and modulus= contradict each other: omit one");
  if (uri.has("turns") && !are_stated(uri)) {
    uri.refuse("turns= counts the turns of a counter: say with bits= or modulus= where it starts again");
  }
  if (uri.has("overflow") && !are_stated(uri)) {
    uri.refuse("overflow= marks the turns of a counter: say with bits= or modulus= where it starts again");
  }
  if (are_denied(uri)) {
    if (uri.get("jumps", "") == "unwrap") uri.refuse("jumps=unwrap contradicts bits=none: omit one");
    return;
  }
  if (uri.has("modulus")) {
    constexpr std::uint64_t kLeastPeriod = 2;
    const auto period = uri.get_count("modulus", 0, kLeastPeriod, kMostPeriod);
    clocks_.push_back({.last_channel = kMaxChannel, .period = period});
  }
  if (uri.has("bits")) read_bits(uri);
  counts_marks_ = uri.has("overflow");
  if (counts_marks_ && clocks_.size() > 1) uri.refuse("overflow= marks the turns of one counter: give one bits=");
}

ClockTurns::ClockTurns(unsigned bits, std::uint64_t first_turn) : first_turn_(first_turn) {
  clocks_.push_back({.last_channel = kMaxChannel, .period = std::uint64_t{1} << bits});
}

void ClockTurns::read_bits(const SourceUri& uri) {
  const auto key = uri.get("bits", "");
  std::string_view text = key;
  do {
    Clock clock;
    clock.last_channel = kMaxChannel;
    auto number = take_channel_or_bits(text);
    const bool last = number && take(text, '-');
    if (last || (number && text.starts_with(':'))) {
      clock.first_channel = *number;
      const auto end = last ? take_channel_or_bits(text) : number;
      if (!end || *end < *number || !take(text, ':')) refuse_bits(uri);
      clock.last_channel = *end;
      number = take_channel_or_bits(text);
    }
    if (!number || *number < kLeastBits || *number > kMostBits) refuse_bits(uri);
    clock.period = std::uint64_t{1} << *number;
    clocks_.push_back(clock);
  } while (take(text, ','));
  if (!text.empty()) refuse_bits(uri);
}

std::size_t ClockTurns::clock_of(std::uint32_t channel) const {
  const auto found = std::ranges::find_if(
      clocks_, [=](const Clock& clock) { return channel >= clock.first_channel && channel <= clock.last_channel; });
  return static_cast<std::size_t>(found - clocks_.begin());
}

const ClockTurns::Clock& ClockTurns::widest() const { return *std::ranges::max_element(clocks_, {}, &Clock::period); }

/// The number in the turn that is marked, or in which the file begins.
std::optional<std::uint64_t> ClockTurns::in_marked_turn(std::uint64_t number) const {
  std::uint64_t begin = 0;
  if (__builtin_mul_overflow(first_turn_ + marked_, widest().period, &begin)) return std::nullopt;
  if (number > std::numeric_limits<std::uint64_t>::max() - begin) return std::nullopt;
  return begin + number;
}

void ClockTurns::mark_turns(std::uint64_t turns) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << kMostBits;
  marked_ = std::min(marked_ + std::min(std::max<std::uint64_t>(turns, 1), kMost), kMost);
}

/// The number nearest to now_, but not below 0.
std::optional<std::uint64_t> ClockTurns::nearest(Clock& clock, std::uint64_t number) const {
  const auto period = clock.period;
  if (*now_ - clock.turn_begin >= period) clock.turn_begin = *now_ - *now_ % period;
  const std::uint64_t place = *now_ - clock.turn_begin;
  const std::uint64_t ahead = number >= place ? number - place : number + (period - place);
  const bool back = ahead > period / 2 && *now_ >= period - ahead;
  const std::uint64_t at = *now_ + ahead - (back ? period : 0);
  return back || at >= *now_ ? std::optional(at) : std::nullopt;
}

std::optional<std::uint64_t> ClockTurns::extend(std::uint64_t number, std::uint32_t channel) {
  const auto place = clock_of(channel);
  if (place == clocks_.size() || number >= clocks_[place].period) return std::nullopt;
  auto& clock = clocks_[place];
  if (clock.first && !counts_marks_) {
    // The usual case: the number is not before the greatest one and lies in the same turn.
    const std::uint64_t newest = *now_ - clock.turn_begin;
    std::uint64_t at = 0;
    const bool fits = !__builtin_add_overflow(clock.turn_begin, number, &at);
    if (fits && number >= newest && number - newest <= clock.period / 2 && newest < clock.period) {
      now_ = clock.greatest = at;
      return at;
    }
  }
  const auto at = now_ && !counts_marks_ ? nearest(clock, number) : in_marked_turn(number);
  if (!at) return std::nullopt;
  if (!clock.first) {
    clock.first = clock.lowest = clock.greatest = *at;
  } else if (*at < clock.lowest && *now_ - *at < clock.period / kPartLate) {
    clock.lowest = *at;
  }
  clock.greatest = std::max(clock.greatest, *at);
  now_ = std::max(now_.value_or(*at), *at);
  return at;
}

std::optional<std::uint64_t> ClockTurns::extend_signed(std::int64_t number, std::uint32_t channel) {
  if (number >= 0) return extend(static_cast<std::uint64_t>(number), channel);
  const auto place = clock_of(channel);
  const auto below = -static_cast<std::uint64_t>(number);
  if (place == clocks_.size() || below > clocks_[place].period / 2) return std::nullopt;
  return extend(clocks_[place].period - below, channel);
}

std::string ClockTurns::defect(const std::string& text, std::uint32_t channel) const {
  const auto place = clock_of(channel);
  if (place == clocks_.size()) return "bits= gives no width for the counter of channel " + std::to_string(channel);
  return "the time " + text + " is not a number of a counter that starts again at " +
         std::to_string(clocks_[place].period) + ", as bits= or modulus= says, or too many turns went before";
}

std::string ClockTurns::misfit(const std::string& place, const std::string& text, std::uint32_t channel) const {
  if (skips_bad_) return defect(text, channel);
  throw UserError(place + ": " + defect(text, channel) + "; with skip-bad=yes, such hits are counted as lost");
}

void ClockTurns::go_on_after(const ClockTurns& before) {
  clocks_ = before.clocks_;
  for (auto& clock : clocks_) {
    if (clock.first) clock.first = clock.lowest = clock.greatest;
  }
  now_ = before.now_;
  marked_ = before.marked_;
}

std::uint64_t ClockTurns::turns() const {
  std::uint64_t turns = 0;
  for (const auto& clock : clocks_) turns += clock.greatest / clock.period - clock.first.value_or(0) / clock.period;
  return turns;
}

std::optional<ClockTurns::Extent> ClockTurns::extent() const {
  if (clocks_.empty() || !widest().first) return std::nullopt;
  const auto& clock = widest();
  return Extent{clock.period, *clock.first, clock.lowest, clock.greatest};
}

}  // namespace eventloom
