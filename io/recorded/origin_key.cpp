#include "io/recorded/origin_key.hpp"

#include <string>

#include "formats/units.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kAttosecondsPerPs = 1'000'000;
constexpr std::int64_t kAttosecondsPerS = 1'000'000'000'000'000'000;
constexpr Attoseconds kMostAttoseconds = Attoseconds{1} << 122;

/// value * unit_ps in attoseconds; std::nullopt if it is too large or not an integer.
std::optional<Attoseconds> product(Decimal value, std::uint64_t unit_ps) {
  Attoseconds result = Attoseconds{value.digits} * unit_ps;
  if (result >= kMostAttoseconds / kAttosecondsPerPs) return std::nullopt;
  result *= kAttosecondsPerPs;
  for (; value.exponent > 0; --value.exponent) {
    if (result >= kMostAttoseconds / 10) return std::nullopt;
    result *= 10;
  }
  for (; value.exponent < 0 && result != 0; ++value.exponent) {
    if (result % 10 != 0) return std::nullopt;
    result /= 10;
  }
  return result;
}

/// Parses a length of time with a unit, or in ticks.
std::optional<Attoseconds> parse_length(std::string_view text, std::uint64_t tick_ps) {
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] >= 'a' && text[end - 1] <= 'z') --end;
  const auto unit_ps = end == text.size() ? std::optional(tick_ps) : picoseconds_of(text.substr(end));
  return unit_ps ? attoseconds_of(text.substr(0, end), *unit_ps) : std::nullopt;
}

}  // namespace

std::optional<Attoseconds> attoseconds_of(std::string_view text, std::uint64_t unit_ps) {
  const bool negative = text.starts_with('-');
  const auto value = parse_decimal(text.substr(negative ? 1 : 0));
  const auto size = value ? product(*value, unit_ps) : std::nullopt;
  if (!size) return std::nullopt;
  return negative ? -*size : *size;
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
