#include "io/csv/csv_time.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "core/runtime/error.hpp"
#include "formats/units.hpp"
#include "formats/utc_time.hpp"
#include "io/files/table_fields.hpp"
#include "io/recorded/clock_unit.hpp"
#include "io/recorded/negative_time.hpp"
#include "io/recorded/time_pair.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kShownOfTime = 40;

/// `what` a number was to be: "a time".
std::string no_number(const char* what) {
  return std::string(what) + ": a decimal number of at most 19 digits, or of 20 that fit in 64 bits";
}

std::string is_not(std::string_view text, const std::string& reason) {
  return "'" + std::string(text.substr(0, kShownOfTime)) + "' is not " + reason;
}

/// Throws an error stating why `text` is not a time.
[[noreturn]] void reject_time(std::string_view text, const std::string& reason) {
  if (is_missing_number(text)) throw std::invalid_argument("the time is missing");
  throw std::invalid_argument(is_not(text, reason));
}

/// `text` is a time, but not with these keys.
[[noreturn]] void ask_for_keys(std::string_view text, const std::string& reason) {
  throw UserError(is_not(text, reason));
}

std::string_view without_plus(std::string_view text) {
  return text.starts_with('+') && !text.starts_with("+-") ? text.substr(1) : text;
}

SourceUri with_unit(const SourceUri& uri, const std::string& unit) {
  if (unit == "tick" && !uri.has("unit")) {
    uri.refuse(
        "the name of the column of times does not say how long a tick of the clock is: add unit=, the length of a tick "
        "such as unit=12.5ns");
  }
  return unit.empty() || uri.has("unit") ? uri : uri.with("unit", unit);
}

/// The digits of a number, with a point before its fraction.
std::string without_exponent(Decimal value) {
  auto text = std::to_string(value.digits);
  if (value.exponent >= 0) return text.append(static_cast<std::size_t>(value.exponent), '0');
  const auto decimals = static_cast<std::size_t>(-value.exponent);
  if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
  return text.insert(text.size() - decimals, ".");
}

}  // namespace

CsvTime::CsvTime(const SourceUri& uri, const std::string& unit, std::uint64_t tick_ps)
    : scale_(with_unit(uri, unit), tick_ps),
      turns_(uri),
      rounding_(scale_.rounding()),
      unit_(with_unit(uri, unit).get("unit", "")),
      length_(clock_unit(with_unit(uri, unit), "unit", tick_ps)),
      subtracts_(subtracts_time(uri)),
      tick_ps_(tick_ps),
      numbered_(uri.get_yes("numbered")) {
  if (!coarse_column(uri).empty()) read_coarse_unit(uri);
  if (coarse_ps_ && uri.has("overflow")) uri.refuse("overflow= is not valid with coarse=");
  const auto origin = origin_of(uri, tick_ps);
  if (!origin) return;
  utc_ = origin->utc;
  for (const char* key : {"unit", "drift", "coarse"}) {
    if (utc_ && uri.has(key)) uri.refuse("times in UTC have no unit: omit " + std::string(key) + "=");
  }
  if (utc_ && turns_.any()) uri.refuse("times in UTC do not wrap around: omit bits= and modulus=");
  origin_ = origin->at;
}

/// Gives both units the same divisor.
void CsvTime::read_coarse_unit(const SourceUri& uri) {
  auto coarse = clock_unit(uri, "coarse-unit", tick_ps_);
  const auto common = std::gcd(coarse.divisor, length_.divisor);
  const auto factor = coarse.divisor / common;
  const bool fits = !__builtin_mul_overflow(coarse.ps.digits, length_.divisor / common, &coarse.ps.digits) &&
                    !__builtin_mul_overflow(length_.ps.digits, factor, &length_.ps.digits) &&
                    !__builtin_mul_overflow(length_.divisor, factor, &length_.divisor);
  if (!fits) uri.refuse("unit= and coarse-unit= have too many digits together");
  coarse_ps_ = coarse.ps;
}

std::optional<Tick> CsvTime::ticks(const Fields& fields, std::uint32_t channel) {
  const auto time = without_plus(fields.time);
  const auto coarse = without_plus(fields.coarse);
  if (coarse_ps_) return sum_of(time, turns_.any() ? unwrapped(coarse, channel) : coarse);
  return turns_.any() ? ticks_of(unwrapped(time, channel)) : ticks_of(time);
}

/// Unwraps the counter, which is the whole part of the number.
std::string CsvTime::unwrapped(std::string_view text, std::uint32_t channel) {
  if (text.find_first_of("eE") != std::string_view::npos) {
    const auto value = parse_decimal(text.substr(text.starts_with('-') ? 1 : 0));
    if (!value) reject_time(text, no_number("a time"));
    require_digits(text, *value);
    return unwrapped((text.starts_with('-') ? "-" : "") + without_exponent(shortest(*value)), channel);
  }
  const auto point = std::min(text.find('.'), text.size());
  const bool negative = text.starts_with('-');
  std::int64_t counter = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + point, counter);
  if (error != std::errc() || end != text.data() + point || (negative && point != text.size())) {
    reject_time(text,
                "the number of a counter, as bits= or modulus= says: decimal digits, and a fraction if it is not "
                "negative");
  }
  const auto extended = turns_.extend_signed(counter, channel);
  if (!extended) throw std::invalid_argument(turns_.defect(std::string(text.substr(0, kShownOfTime)), channel));
  return std::to_string(*extended) + std::string(text.substr(point));
}

std::optional<Tick> CsvTime::ticks_of(std::string_view text) const {
  if (origin_) return since_origin(text, exact(text));
  if (const auto value = parse_decimal(text)) {
    require_unit(text);
    require_digits(text, *value);
    if (const auto ticks = scale_.ticks(*value)) return ticks;
    const auto defect = scale_.defect(std::string(text.substr(0, kShownOfTime)));
    if (scale_.needs_rounding(*value)) throw UserError(defect);
    throw std::invalid_argument(defect);
  }
  if (parse_utc(text)) {
    ask_for_keys(text, "a number; for times in UTC say which becomes tick 0: origin=" +
                           std::string(text.substr(0, 10)) + "T00:00:00Z, the same for all files of a run");
  }
  if (text.starts_with('-') && parse_decimal(text.substr(1))) {
    reject_negative(text);
  }
  reject_time(text, no_number("a time") + ", not negative (skip= skips header lines)");
}

void CsvTime::reject_negative(std::string_view text) const {
  constexpr double kMost = 0x1p62;
  const auto value = text.starts_with('-') ? parse_decimal(text.substr(1)) : std::nullopt;
  const double size = value ? std::clamp(std::ceil(to_double(*value)), 1.0, kMost) : 1;
  reject_time(text, "a time: it is negative; " + negative_time_advice(static_cast<std::uint64_t>(size), 0, numbered_));
}

void CsvTime::require_unit(std::string_view text) const {
  if (!unit_.empty()) return;
  throw UserError("the time '" + std::string(text.substr(0, kShownOfTime)) +
                  "' has no unit: the name of its column states none, as time_us does; add unit=ps, ns, us, "
                  "ms, s or tick to the source");
}

/// Refuses numbers that are not precise to a tick: 1.64E+15 may stand for any time from 1635000000000000 on.
void CsvTime::require_digits(std::string_view text, Decimal value) const {
  if (!scale_.lacks_digits(value)) return;
  ask_for_keys(text, "precise to a tick: it has no digits for less than 1e" + std::to_string(value.exponent) + " " +
                         unit_ + "; write all digits, or add round=nearest to the source to accept that");
}

/// A number in the unit of the times, which may be negative.
TimeTerm CsvTime::term_of(std::string_view text) const {
  const bool negative = text.starts_with('-');
  const auto value = parse_decimal(text.substr(negative ? 1 : 0));
  if (!value) reject_time(text, no_number("a time"));
  require_unit(text);
  require_digits(text, *value);
  return {*value, length_.ps, negative};
}

ExactTime CsvTime::exact(std::string_view text) const {
  if (utc_) {
    if (const auto time = parse_utc(text)) return {attoseconds_of(*time), true};
    if (names_leap_second(text)) reject_time(text, kNoLeapSeconds);
    reject_time(text, "a time in UTC, as origin= is: such as 2026-11-21T10:00:00.123456789Z");
  }
  const auto term = term_of(text);
  if (const auto time = attoseconds_of({&term, 1}, length_.divisor)) return *time;
  reject_time(text, no_number("a time"));
}

/// The time of two columns, from tick 0 or the origin.
std::optional<Tick> CsvTime::sum_of(std::string_view text, std::string_view coarse) const {
  const auto steps = parse_decimal(coarse);
  if (!steps) reject_time(coarse, no_number("a coarse time") + ", not negative");
  std::array<TimeTerm, 2> terms = {TimeTerm{*steps, *coarse_ps_}, term_of(text)};
  if (subtracts_) terms[1].negative = !terms[1].negative;
  const auto time = attoseconds_of(terms, length_.divisor);
  const auto both =
      std::string(coarse.substr(0, kShownOfTime)) + (subtracts_ ? " steps less " : " steps and ") + std::string(text);
  if (!time) reject_time(both, "a time below 2^64 ticks");
  return since_origin(both, *time);
}

std::optional<RawClock> CsvTime::raw_clock() const {
  if (utc_) return std::nullopt;
  const auto origin = static_cast<double>(origin_.value_or(0)) / static_cast<double>(kAttosecondsPerPs);
  const double zero = -origin / static_cast<double>(tick_ps_);
  if (!coarse_ps_) return scale_.raw_clock(zero);
  const double step_ps = to_double(*coarse_ps_) / static_cast<double>(length_.divisor);
  return RawClock{zero, step_ps / static_cast<double>(tick_ps_), "coarse steps"};
}

std::optional<std::string> CsvTime::leap_second_between(Tick from, Tick to) const {
  if (!utc_) return std::nullopt;
  const auto second_of = [this](Tick tick) {
    const auto time = *origin_ + Attoseconds{tick.value} * tick_ps_ * kAttosecondsPerPs;
    return static_cast<std::int64_t>(time / kAttosecondsPerS);
  };
  return eventloom::leap_second_between(second_of(from), second_of(to));
}

/// std::nullopt before the origin. `text` is the time as written, for messages.
std::optional<Tick> CsvTime::since_origin(std::string_view text, const ExactTime& time) const {
  const Attoseconds since = time.below - origin_.value_or(0);
  const Attoseconds tick = Attoseconds{tick_ps_} * kAttosecondsPerPs;
  const Attoseconds moved = rounding_ == Rounding::nearest ? since + tick / 2 : since;
  if (rounding_ == Rounding::none && (since % tick != 0 || !time.whole)) {
    ask_for_keys(text,
                 "a whole number of ticks of " + std::to_string(tick_ps_) +
                     " ps from the origin: choose a finer --tick, or add round=down or round=nearest to the source");
  }
  if (moved < 0 && !origin_) reject_negative(text);
  if (moved < 0) return std::nullopt;
  if (moved / tick > Attoseconds{std::numeric_limits<std::uint64_t>::max()})
    reject_time(text, "a time below 2^64 ticks");
  return Tick(static_cast<std::uint64_t>(moved / tick));
}

}  // namespace eventloom
