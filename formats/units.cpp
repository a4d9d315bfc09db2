#include "formats/units.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace eventloom {

namespace {

__extension__ using Wide = unsigned __int128;
constexpr auto kMax64 = std::numeric_limits<std::uint64_t>::max();

constexpr std::array<std::pair<std::string_view, std::uint64_t>, 7> kTimeUnits = {{{"ps", 1},
                                                                                   {"ns", 1000},
                                                                                   {"us", 1'000'000},
                                                                                   {"ms", 1'000'000'000},
                                                                                   {"s", 1'000'000'000'000},
                                                                                   {"min", 60'000'000'000'000},
                                                                                   {"h", 3'600'000'000'000'000}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Splits "25ns" into "25" and "ns". An exponent is part of the number.
std::pair<std::string_view, std::string_view> split_unit(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0 && !is_digit(text[end - 1]) && text[end - 1] != '.') --end;
  return {text.substr(0, end), text.substr(end)};
}

/// digits * 10^exponent * multiply / divide, if that is an integer that fits in 64 bits.
std::optional<std::uint64_t> scaled(std::uint64_t digits, int exponent, std::uint64_t multiply, std::uint64_t divide) {
  if (digits == 0) return 0;
  Wide value = Wide{digits} * multiply;
  for (; exponent > 0; --exponent) {
    if (value > (~Wide{0}) / 10) return std::nullopt;
    value *= 10;
  }
  for (; exponent < 0; ++exponent) {
    if (value % 10 != 0) return std::nullopt;
    value /= 10;
  }
  if (value % divide != 0) return std::nullopt;
  value /= divide;
  if (value > kMax64) return std::nullopt;
  return static_cast<std::uint64_t>(value);
}

[[noreturn]] void reject(std::string_view text, const std::string& expected) {
  if (text.find_first_not_of(" \t") == std::string_view::npos) throw std::invalid_argument("expected " + expected);
  throw std::invalid_argument("'" + std::string(text) + "' is not " + expected);
}

}  // namespace

Decimal shortest(Decimal value) {
  while (value.digits != 0 && value.digits % 10 == 0) {
    value.digits /= 10;
    ++value.exponent;
  }
  return value;
}

double to_double(Decimal value) {
  const auto digits = static_cast<double>(value.digits);
  return value.exponent < 0 ? digits / std::pow(10.0, -value.exponent) : digits * std::pow(10.0, value.exponent);
}

std::optional<Decimal> parse_decimal(std::string_view text) {
  Decimal out;
  std::size_t i = 0;
  bool any = false;
  bool point = false;
  int significant = 0;
  for (; i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit(text[i])) break;
    any = true;
    if (out.digits != 0 || text[i] != '0') ++significant;
    const auto digit = static_cast<std::uint64_t>(text[i] - '0');
    constexpr int kAlwaysFit = 19;
    if (significant > kAlwaysFit && out.digits > (kMax64 - digit) / 10) {
      if (point && digit == 0) continue;  // a zero at the end of a fraction
      return std::nullopt;
    }
    out.digits = out.digits * 10 + digit;
    if (point) --out.exponent;
  }
  if (!any) return std::nullopt;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    auto power = text.substr(i + 1);
    if (power.starts_with("+-")) return std::nullopt;
    if (power.starts_with('+')) power.remove_prefix(1);
    int exponent = 0;
    const auto [end, error] = std::from_chars(power.data(), power.data() + power.size(), exponent);
    if (error != std::errc() || end != power.data() + power.size() || exponent > 40 || exponent < -60)
      return std::nullopt;
    out.exponent += exponent;
    return out;
  }
  if (i != text.size()) return std::nullopt;
  return out;
}

std::optional<std::uint64_t> picoseconds_of(std::string_view unit) {
  for (const auto& [name, ps] : kTimeUnits) {
    if (name == unit) return ps;
  }
  return std::nullopt;
}

std::optional<TimeUnit> parse_unit(std::string_view text) {
  constexpr std::uint64_t kMostDivisor = 1U << 20;
  auto [number, name] = split_unit(text);
  const auto unit_ps = picoseconds_of(name);
  if (!unit_ps) return std::nullopt;
  TimeUnit unit{shortest({*unit_ps, 0}), 1};
  if (number.empty()) return unit;
  if (const auto slash = number.find('/'); slash != std::string_view::npos) {
    const auto divisor = number.substr(slash + 1);
    const auto [end, error] = std::from_chars(divisor.data(), divisor.data() + divisor.size(), unit.divisor);
    if (error != std::errc() || end != divisor.data() + divisor.size()) return std::nullopt;
    if (unit.divisor == 0 || unit.divisor > kMostDivisor) return std::nullopt;
    number = number.substr(0, slash);
  }
  const auto value = parse_decimal(number);
  if (!value || value->digits == 0) return std::nullopt;
  const auto length = shortest(*value);
  if (__builtin_mul_overflow(unit.ps.digits, length.digits, &unit.ps.digits)) return std::nullopt;
  unit.ps.exponent += length.exponent;
  return unit;
}

std::optional<Tick> to_ticks(Decimal value, std::uint64_t unit_ps, std::uint64_t tick_ps) {
  const auto ticks = scaled(value.digits, value.exponent, unit_ps, tick_ps);
  return ticks ? std::optional(Tick(*ticks)) : std::nullopt;
}

std::optional<Tick> to_ticks(Decimal value, Decimal unit_ps, std::uint64_t tick_ps, Rounding rounding) {
  int exponent = value.exponent + unit_ps.exponent;
  if (rounding == Rounding::none) return to_ticks({value.digits, exponent}, unit_ps.digits, tick_ps);
  if (value.digits == 0) return Tick(0);
  Wide above = Wide{value.digits} * unit_ps.digits;
  Wide below = tick_ps;
  for (; exponent > 0; --exponent) {
    if (above > ~Wide{0} / 10) return std::nullopt;
    above *= 10;
  }
  for (; exponent < 0; ++exponent) {
    if (below > ~Wide{0} / 10) return Tick(0);  // `above` is far smaller
    below *= 10;
  }
  const Wide rest = above % below;
  const bool up = rounding == Rounding::nearest && rest >= below - rest;
  const Wide ticks = above / below + (up ? 1 : 0);
  if (ticks > kMax64) return std::nullopt;
  return Tick(static_cast<std::uint64_t>(ticks));
}

std::uint64_t steps_in(std::uint64_t ns, std::uint64_t step_ps) {
  const Wide steps = Wide{ns} * 1000 / step_ps;
  return steps > kMax64 ? kMax64 : static_cast<std::uint64_t>(steps);
}

Tick parse_duration(std::string_view text, std::uint64_t tick_ps) {
  constexpr auto kExpected =
      "a length of time: a whole number of ticks below 2^64, or a number with ps, ns, us, ms, s, min or h";
  const auto [number, unit] = split_unit(text);
  const auto value = parse_decimal(number);
  if (!value) reject(text, kExpected);
  if (unit.empty()) {
    const auto ticks = scaled(value->digits, value->exponent, 1, 1);
    if (!ticks) reject(text, kExpected);
    return Tick(*ticks);
  }
  const auto unit_ps = picoseconds_of(unit);
  if (!unit_ps) reject(text, kExpected);
  const auto ticks = to_ticks(*value, *unit_ps, tick_ps);
  const auto of = tick_ps == 1 ? "picoseconds" : "ticks of " + std::to_string(tick_ps) + " ps";
  if (!ticks) reject(text, "a whole number of " + of + ", less than 2^64");
  return *ticks;
}

std::int64_t parse_offset(std::string_view text, std::uint64_t tick_ps) {
  constexpr auto kExpected =
      "a shift of times: a whole number of ticks, or a number with ps, ns, us, ms, s, min or h, negative ones with -";
  const bool negative = text.starts_with('-');
  const auto [number, unit] = split_unit(text.substr(negative ? 1 : 0));
  const auto value = parse_decimal(number);
  const auto unit_ps = unit.empty() ? std::optional(tick_ps) : picoseconds_of(unit);
  if (!value || !unit_ps) reject(text, kExpected);
  const auto ticks = to_ticks(*value, {*unit_ps, 0}, tick_ps, unit.empty() ? Rounding::none : Rounding::nearest);
  if (!ticks) reject(text, kExpected);
  if (*ticks > Tick(std::numeric_limits<std::int64_t>::max())) reject(text, "below 2^63 ticks");
  return negative ? -static_cast<std::int64_t>(*ticks) : static_cast<std::int64_t>(*ticks);
}

std::uint64_t parse_picoseconds(std::string_view text) {
  const auto [number, unit] = split_unit(text);
  const auto value = parse_decimal(number);
  const auto unit_ps = picoseconds_of(unit);
  const auto ps = value && unit_ps ? to_ticks(*value, *unit_ps, 1) : std::nullopt;
  if (!ps) reject(text, "a length of time with a unit (ps, ns, us, ms or s), at least whole picoseconds");
  return ps->value;
}

std::uint64_t parse_bytes(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::uint64_t>, 8> kUnits = {{{"", 1},
                                                                                 {"B", 1},
                                                                                 {"kB", 1000},
                                                                                 {"MB", 1000'000},
                                                                                 {"GB", 1000'000'000},
                                                                                 {"KiB", 1ULL << 10},
                                                                                 {"MiB", 1ULL << 20},
                                                                                 {"GiB", 1ULL << 30}}};
  const auto [number, unit] = split_unit(text);
  const auto value = parse_decimal(number);
  for (const auto& [name, factor] : kUnits) {
    if (!value || name != unit) continue;
    if (const auto bytes = scaled(value->digits, value->exponent, factor, 1)) return *bytes;
  }
  reject(text, "a number of bytes, plain or with KiB, MiB, GiB, kB, MB or GB");
}

std::uint64_t parse_count(std::string_view text) {
  const auto value = parse_decimal(text);
  const auto count = value ? scaled(value->digits, value->exponent, 1, 1) : std::nullopt;
  if (!count) reject(text, "a whole number below 2^64");
  return *count;
}

}  // namespace eventloom
