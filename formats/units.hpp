#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/ids.hpp"

namespace eventloom {

/// An exact non-negative decimal number: value = digits * 10^exponent.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

/// The same value with the fewest possible digits.
Decimal shortest(Decimal value);
double to_double(Decimal value);

/// Parses "12", "0.25", "1e6", "8.400000"; std::nullopt if the text is not such a number, or its significant digits, as
/// a whole number, do not fit in 64 bits: all of 19 digits do.
std::optional<Decimal> parse_decimal(std::string_view text);

/// Picoseconds in a unit of time: ps, ns, us, ms, s, min or h. std::nullopt for any other word.
std::optional<std::uint64_t> picoseconds_of(std::string_view unit);

/// A unit of time: `ps` / `divisor` picoseconds, exactly.
struct TimeUnit {
  Decimal ps{1, 0};
  std::uint64_t divisor = 1;
};

/// Parses a unit of time, "ns", or a length with one: "12.5ns", or as a fraction "25/2ns". std::nullopt for any other
/// text, a length of 0, and a divisor above 2^20.
std::optional<TimeUnit> parse_unit(std::string_view text);

/// value * unit in ticks; std::nullopt if that is not a whole number of ticks or does not fit in 64 bits.
std::optional<Tick> to_ticks(Decimal value, std::uint64_t unit_ps, std::uint64_t tick_ps);

enum class Rounding { none, down, nearest };
/// The same with rounding; Rounding::nearest rounds halves up, Rounding::none does not round.
std::optional<Tick> to_ticks(Decimal value, Decimal unit_ps, std::uint64_t tick_ps, Rounding rounding);

/// Number of whole steps of `step_ps` picoseconds, which must be at least 1, in `ns` nanoseconds; saturates at the
/// largest number.
std::uint64_t steps_in(std::uint64_t ns, std::uint64_t step_ps);

/// Parses a duration on the command line: plain ticks ("25") or with a unit ("25ns", "0.5us"). Throws
/// std::invalid_argument that names the text and states what was expected.
Tick parse_duration(std::string_view text, std::uint64_t tick_ps);

/// Parses a shift of times: a duration as above, with or without a minus sign, rounded to the nearest tick.
std::int64_t parse_offset(std::string_view text, std::uint64_t tick_ps);

/// Parses a duration to picoseconds; a unit is required.
std::uint64_t parse_picoseconds(std::string_view text);

/// Parses a number of bytes: "4096", "64KiB", "1MiB", "1GiB", "2GB". Throws std::invalid_argument.
std::uint64_t parse_bytes(std::string_view text);

/// Parses a count: "1000", "1e6". Throws std::invalid_argument.
std::uint64_t parse_count(std::string_view text);

}  // namespace eventloom
