#include "io/recorded/origin_key.hpp"

#include <algorithm>
#include <string>

namespace eventloom {

namespace {

constexpr int kPowersOfAttosecondsPerPs = 6;
constexpr Attoseconds kMostAttoseconds = Attoseconds{1} << 122;

/// value * 10^powers; std::nullopt if it is too large.
std::optional<Attoseconds> multiplied(Attoseconds value, int powers) {
  for (; powers > 0 && value != 0; --powers) {
    if (value >= kMostAttoseconds / 10) return std::nullopt;
    value *= 10;
  }
  return value;
}

/// Parses a length of time with a unit, or in ticks.
std::optional<Attoseconds> parse_length(std::string_view text, std::uint64_t tick_ps) {
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] >= 'a' && text[end - 1] <= 'z') --end;
  const auto unit_ps = end == text.size() ? std::optional(tick_ps) : picoseconds_of(text.substr(end));
  return unit_ps ? attoseconds_of(text.substr(0, end), *unit_ps) : std::nullopt;
}

}  // namespace

std::optional<ExactTime> attoseconds_of(std::span<const TimeTerm> terms, std::uint64_t divisor) {
  const auto exponent_of = [](const TimeTerm& term) {
    return term.value.exponent + term.unit_ps.exponent + kPowersOfAttosecondsPerPs;
  };
  int least = 0;
  for (const auto& term : terms) least = term.value.digits == 0 ? least : std::min(least, exponent_of(term));
  Attoseconds sum = 0;
  for (const auto& term : terms) {
    const auto digits = static_cast<Attoseconds>(term.value.digits);
    if (digits != 0 && static_cast<Attoseconds>(term.unit_ps.digits) >= kMostAttoseconds / digits) return std::nullopt;
    const auto size = multiplied(digits * static_cast<Attoseconds>(term.unit_ps.digits), exponent_of(term) - least);
    if (!size) return std::nullopt;
    sum += term.negative ? -*size : *size;
  }
  const auto below = multiplied(static_cast<Attoseconds>(divisor), -least);
  if (!below) return ExactTime{sum < 0 ? -1 : 0, sum == 0};  // less than an attosecond
  const Attoseconds rest = (sum % *below + *below) % *below;
  return ExactTime{(sum - rest) / *below, rest == 0};
}

std::optional<Attoseconds> attoseconds_of(std::string_view text, std::uint64_t unit_ps) {
  const bool negative = text.starts_with('-');
  const auto value = parse_decimal(text.substr(negative ? 1 : 0));
  if (!value) return std::nullopt;
  const TimeTerm term{*value, {unit_ps, 0}, negative};
  const auto time = attoseconds_of({&term, 1}, 1);
  return time && time->whole ? std::optional(time->below) : std::nullopt;
}

Attoseconds attoseconds_of(const UtcTime& time) {
  return Attoseconds{time.seconds} * kAttosecondsPerS + static_cast<Attoseconds>(time.attoseconds);
}

std::optional<FineTicks> fine_of(Attoseconds time, std::uint64_t tick_ps) {
  const auto tick = Attoseconds{tick_ps} * kAttosecondsPerPs;
  const Attoseconds rest = (time % tick + tick) % tick;
  const Attoseconds ticks = (time - rest) / tick;
  constexpr Attoseconds kMost = Attoseconds{1} << 75;
  if (ticks >= kMost || ticks <= -kMost) return std::nullopt;
  return (ticks << kFineBits) + (rest << kFineBits) / tick;  // does not overflow: a tick is at most 1 s
}

std::optional<OriginKey> origin_of(const SourceUri& uri, std::uint64_t tick_ps) {
  if (!uri.has("origin")) return std::nullopt;
  const auto text = uri.get("origin", "");
  if (const auto utc = parse_utc(text)) return OriginKey{attoseconds_of(*utc), true};
  if (const auto length = parse_length(text, tick_ps)) return OriginKey{*length, false};
  if (names_leap_second(text)) uri.refuse("origin=" + text + " is not " + kNoLeapSeconds);
  uri.refuse("origin=" + text + " is neither a length of time, such as -5ms, nor UTC, such as 2026-11-21T10:00:00Z");
}

}  // namespace eventloom
