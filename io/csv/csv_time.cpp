#include "io/csv/csv_time.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>

#include "formats/units.hpp"
#include "formats/utc_time.hpp"

namespace eventloom {

namespace {

constexpr std::int64_t kAttosecondsPerPs = 1'000'000;
constexpr std::int64_t kAttosecondsPerS = 1'000'000'000'000'000'000;
constexpr std::size_t kShownOfTime = 40;
[[noreturn]] void reject_time(std::string_view text, const std::string& reason) {
  throw std::invalid_argument("'" + std::string(text.substr(0, kShownOfTime)) + "' is not " + reason);
}

SourceUri with_unit(const SourceUri& uri, const std::string& unit) {
  return unit.empty() || uri.has("unit") ? uri : uri.with("unit", unit);
}

}  // namespace

CsvTime::CsvTime(const SourceUri& uri, const std::string& unit, std::uint64_t tick_ps)
    : scale_(with_unit(uri, unit), tick_ps),
      turns_(uri),
      rounding_(scale_.rounding()),
      unit_(with_unit(uri, unit).get("unit", "")),
      unit_ps_(with_unit(uri, unit).get_unit_ps("unit", tick_ps)),
      tick_ps_(tick_ps) {
  const auto origin = origin_of(uri, tick_ps);
  if (!origin) return;
  utc_ = origin->utc;
  if (utc_ && uri.has("unit")) uri.refuse("times in UTC have no unit: omit unit=");
  if (utc_ && turns_.any()) uri.refuse("times in UTC do not wrap around: omit bits=");
  origin_ = origin->at;
}

std::optional<Tick> CsvTime::ticks(std::string_view text, std::uint32_t channel) {
  return turns_.any() ? ticks_of(unwrapped(text, channel)) : ticks_of(text);
}

/// Unwraps the counter, which is the whole part of the number.
std::string CsvTime::unwrapped(std::string_view text, std::uint32_t channel) {
  const auto point = std::min(text.find('.'), text.size());
  std::uint64_t counter = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + point, counter);
  if (error != std::errc() || end != text.data() + point) {
    reject_time(text, "the number of a counter of the width in bits=: decimal digits");
  }
  const auto extended = turns_.extend(counter, channel);
  if (!extended) throw std::invalid_argument(turns_.complaint(counter, channel));
  return std::to_string(*extended) + std::string(text.substr(point));
}

std::optional<Tick> CsvTime::ticks_of(std::string_view text) const {
  if (origin_) return since_origin(text);
  if (const auto value = parse_decimal(text)) {
    require_unit(text);
    require_digits(text, *value);
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

void CsvTime::require_unit(std::string_view text) const {
  if (!unit_.empty()) return;
  throw std::invalid_argument(
      "the time '" + std::string(text.substr(0, kShownOfTime)) +
      "' has no unit: the name of its column states none, as time_us does; add unit=ps, ns, us, "
      "ms, s or tick to the source");
}

/// Refuses numbers that are not precise to a tick: 1.64E+15 may stand for any time from 1635000000000000 on.
void CsvTime::require_digits(std::string_view text, Decimal value) const {
  if (rounding_ != Rounding::none || value.exponent <= 0 || value.digits == 0) return;
  const auto last = to_ticks({1, value.exponent}, {unit_ps_, 0}, tick_ps_, Rounding::nearest);
  if (last && *last <= 1) return;
  reject_time(text, "precise to a tick: it has no digits for less than 1e" + std::to_string(value.exponent) + " " +
                        unit_ + "; write all digits, or add round=nearest to the source to accept that");
}

Attoseconds CsvTime::attoseconds(std::string_view text) const {
  if (utc_) {
    if (const auto time = parse_utc(text)) return attoseconds_of(*time);
    if (names_leap_second(text)) reject_time(text, kNoLeapSeconds);
    reject_time(text, "a time in UTC, as origin= is: such as 2026-11-21T10:00:00.123456789Z");
  }
  if (const auto value = parse_decimal(text.substr(text.starts_with('-') ? 1 : 0))) {
    require_unit(text);
    require_digits(text, *value);
  }
  if (const auto time = attoseconds_of(text, unit_ps_)) return *time;
  reject_time(text, "a time: a decimal number of at most 19 digits and whole attoseconds");
}

std::optional<std::string> CsvTime::leap_second_between(Tick from, Tick to) const {
  if (!utc_) return std::nullopt;
  const auto second_of = [this](Tick tick) {
    const auto time = *origin_ + Attoseconds{tick.value} * tick_ps_ * kAttosecondsPerPs;
    return static_cast<std::int64_t>(time / kAttosecondsPerS);
  };
  return eventloom::leap_second_between(second_of(from), second_of(to));
}

std::optional<Tick> CsvTime::since_origin(std::string_view text) const {
  const Attoseconds since = attoseconds(text) - *origin_;
  const Attoseconds tick = Attoseconds{tick_ps_} * kAttosecondsPerPs;
  const Attoseconds moved = rounding_ == Rounding::nearest ? since + tick / 2 : since;
  if (rounding_ == Rounding::none && since % tick != 0) {
    reject_time(text,
                "a whole number of ticks of " + std::to_string(tick_ps_) +
                    " ps from the origin: choose a finer --tick, or add round=down or round=nearest to the source");
  }
  if (moved < 0) return std::nullopt;
  if (moved / tick > Attoseconds{std::numeric_limits<std::uint64_t>::max()})
    reject_time(text, "a time below 2^64 ticks");
  return Tick(static_cast<std::uint64_t>(moved / tick));
}

}  // namespace eventloom
