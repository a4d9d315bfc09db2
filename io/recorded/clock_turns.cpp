#include "io/recorded/clock_turns.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "io/recorded/payload_columns.hpp"

namespace eventloom {

namespace {

constexpr unsigned kLeastBits = 8;
constexpr unsigned kMostBits = 63;

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
             std::to_string(kMostBits) + " bits: bits=32, or by channels: bits=0-15:32,16-31:48");
}

}  // namespace

ClockTurns::ClockTurns(const SourceUri& uri) {
  if (!uri.has("bits")) return;
  const auto key = uri.get("bits", "");
  if (key == "none") return;  // the times are not a counter that turns
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
    clock.bits = *number;
    clocks_.push_back(clock);
  } while (take(text, ','));
  if (!text.empty()) refuse_bits(uri);
}

std::size_t ClockTurns::clock_of(std::uint32_t channel) const {
  const auto found = std::ranges::find_if(
      clocks_, [=](const Clock& clock) { return channel >= clock.first_channel && channel <= clock.last_channel; });
  return static_cast<std::size_t>(found - clocks_.begin());
}

std::optional<std::uint64_t> ClockTurns::extend(std::uint64_t number, std::uint32_t channel) {
  const auto place = clock_of(channel);
  if (place == clocks_.size() || number >> clocks_[place].bits != 0) return std::nullopt;
  auto& clock = clocks_[place];
  const std::uint64_t period = std::uint64_t{1} << clock.bits;
  std::uint64_t at = number;
  if (now_) {
    const std::uint64_t ahead = (number - *now_) & (period - 1);
    const bool back = ahead > period / 2 && *now_ >= period - ahead;
    at = *now_ + ahead - (back ? period : 0);
    if (!back && at < *now_) return std::nullopt;
  }
  now_ = std::max(now_.value_or(at), at);
  const std::uint64_t turn = at >> clock.bits;
  if (!clock.first_turn) clock.first_turn = turn;
  clock.last_turn = std::max(clock.last_turn, turn);
  return at;
}

std::string ClockTurns::defect(std::uint64_t number, std::uint32_t channel) const {
  const auto place = clock_of(channel);
  if (place == clocks_.size()) return "bits= gives no width for the counter of channel " + std::to_string(channel);
  return "the time " + std::to_string(number) + " has more than the " + std::to_string(clocks_[place].bits) +
         " bits of bits=, or too many turns went before";
}

std::uint64_t ClockTurns::turns() const {
  std::uint64_t turns = 0;
  for (const auto& clock : clocks_) turns += clock.last_turn - clock.first_turn.value_or(clock.last_turn);
  return turns;
}

}  // namespace eventloom
