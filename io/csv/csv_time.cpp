#include "io/csv/csv_time.hpp"

#include <limits>
#include <stdexcept>

#include "formats/units.hpp"
#include "formats/utc_time.hpp"

namespace eventloom {

namespace {

__extension__ using SignedWide = __int128;

constexpr std::int64_t kAttosecondsPerPs = 1'000'000;                 // attoseconds
constexpr std::int64_t kAttosecondsPerS = 1'000'000'000'000'000'000;  // likewise
constexpr SignedWide kMostAttoseconds = SignedWide{1} << 122;
constexpr std::size_t kShownOfTime = 40;
constexpr const char* kNoLeapSeconds =
    "a time of its own: it is a leap second, which UTC in seconds since 1970 does not count; across one, give times as "
    "numbers of a clock that counts it, such as TAI";

[[noreturn]] void reject_time(std::string_view text, const std::string& reason) {
  throw std::invalid_argument("'" + std::string(text.substr(0, kShownOfTime)) + "' is not " + reason);
}

/// value * unit_ps in attoseconds; nothing when it is too large, or not whole.
std::optional<SignedWide> attoseconds_of(Decimal value, std::uint64_t unit_ps) {
  SignedWide result = SignedWide{value.digits} * unit_ps;
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

std::optional<SignedWide> attoseconds_of(std::string_view text, std::uint64_t unit_ps) {
  const bool negative = text.starts_with('-');
  const auto value = parse_decimal(text.substr(negative ? 1 : 0));
  const auto size = value ? attoseconds_of(*value, unit_ps) : std::nullopt;
  if (!size) return std::nullopt;
  return negative ? -*size : *size;
}

SignedWide attoseconds_of(const UtcTime& time) {
  return SignedWide{time.seconds} * kAttosecondsPerS + static_cast<SignedWide>(time.attoseconds);
}

/// `origin` as a length of time: in picoseconds, or in ticks.
SignedWide parse_origin(const SourceUri& uri, const std::string& text, std::uint64_t tick_ps) {
  std::size_t end = text.size();
  while (end > 0 && text[end - 1] >= 'a' && text[end - 1] <= 'z') --end;
  const auto unit_ps = end == text.size() ? std::optional(tick_ps) : picoseconds_of(text.substr(end));
  const auto origin = unit_ps ? attoseconds_of(std::string_view(text).substr(0, end), *unit_ps) : std::nullopt;
  if (names_leap_second(text)) uri.refuse("origin=" + text + " is not " + kNoLeapSeconds);
  if (!origin) {
    uri.refuse("origin=" + text + " is neither a length of time, such as -5ms, nor UTC, such as 2026-11-21T10:00:00Z");
  }
  return *origin;
}

SourceUri with_unit(const SourceUri& uri, const std::string& unit) {
  return unit.empty() || uri.has("unit") ? uri : uri.with("unit", unit);
}

}  // namespace

CsvTime::CsvTime(const SourceUri& uri, const std::string& unit, std::uint64_t tick_ps)
    : scale_(with_unit(uri, unit), tick_ps),
      rounding_(scale_.rounding()),
      unit_ps_(with_unit(uri, unit).get_unit_ps("unit", tick_ps)),
      tick_ps_(tick_ps) {
  if (!uri.has("origin")) return;
  const auto text = uri.get("origin", "");
  const auto utc = parse_utc(text);
  utc_ = utc.has_value();
  if (utc_ && uri.has("unit")) uri.refuse("times in UTC have no unit: omit unit=");
  origin_ = utc ? attoseconds_of(*utc) : parse_origin(uri, text, tick_ps);
}

std::optional<Tick> CsvTime::ticks(std::string_view text) const {
  if (origin_) return since_origin(text);
  if (const auto value = parse_decimal(text)) {
    if (const auto ticks = scale_.ticks(*value)) return ticks;
    throw std::invalid_argument(scale_.complaint(std::string(text.substr(0, kShownOfTime))));
  }
  if (parse_utc(text)) {
    reject_time(text, "a number; for times in UTC say which becomes tick 0: origin=" + std::string(text.substr(0, 10)) +
                          "T00:00:00Z, the same for all files of a run");
  }
  if (text.starts_with('-') && parse_decimal(text.substr(1))) {
    reject_time(text, "a time: it is negative; say which time becomes tick 0, such as origin=-1s");
  }
  reject_time(text, "a time: a decimal number, not negative, of at most 19 digits (skip= skips header lines)");
}

CsvTime::Wide CsvTime::attoseconds(std::string_view text) const {
  if (utc_) {
    if (const auto time = parse_utc(text)) return attoseconds_of(*time);
    if (names_leap_second(text)) reject_time(text, kNoLeapSeconds);
    reject_time(text, "a time in UTC, as origin= is: such as 2026-11-21T10:00:00.123456789Z");
  }
  if (const auto time = attoseconds_of(text, unit_ps_)) return *time;
  reject_time(text, "a time: a decimal number of at most 19 digits and whole attoseconds");
}

std::optional<std::string> CsvTime::leap_second_between(Tick from, Tick to) const {
  if (!utc_) return std::nullopt;
  const auto second_of = [this](Tick tick) {
    const auto time = *origin_ + Wide{tick} * tick_ps_ * kAttosecondsPerPs;
    return static_cast<std::int64_t>(time / kAttosecondsPerS);
  };
  return eventloom::leap_second_between(second_of(from), second_of(to));
}

std::optional<Tick> CsvTime::since_origin(std::string_view text) const {
  const Wide since = attoseconds(text) - *origin_;
  const Wide tick = Wide{tick_ps_} * kAttosecondsPerPs;
  const Wide moved = rounding_ == Rounding::nearest ? since + tick / 2 : since;
  if (rounding_ == Rounding::none && since % tick != 0) {
    reject_time(text,
                "a whole number of ticks of " + std::to_string(tick_ps_) +
                    " ps from the origin: choose a finer --tick, or add round=down or round=nearest to the source");
  }
  if (moved < 0) return std::nullopt;
  if (moved / tick > static_cast<Wide>(std::numeric_limits<Tick>::max())) reject_time(text, "a time below 2^64 ticks");
  return static_cast<Tick>(moved / tick);
}

}  // namespace eventloom
