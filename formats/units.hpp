#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/ids.hpp"

namespace eventloom {

/// A non-negative decimal number times a power of ten, kept exactly: value = digits * 10^exponent.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

/// The same value with as few digits as possible.
Decimal shortest(Decimal value);
double to_double(Decimal value);

/// "12", "0.25", "1e6", "8.400000"; nothing when the text is not such a number or has more than 19
/// significant digits.
std::optional<Decimal> parse_decimal(std::string_view text);

/// Picoseconds in a unit of time: ps ns us ms s. Nothing for any other word.
std::optional<std::uint64_t> picoseconds_of(std::string_view unit);

/// value * unit in ticks, exactly: nothing when that is not a whole number of ticks or does not fit.
std::optional<Tick> to_ticks(Decimal value, std::uint64_t unit_ps, std::uint64_t tick_ps);

enum class Rounding { none, down, nearest };
/// Likewise, rounded; a half goes up. With Rounding::none as above.
std::optional<Tick> to_ticks(Decimal value, Decimal unit_ps, std::uint64_t tick_ps, Rounding rounding);

/// The number of whole steps of `step_ps` picoseconds, at least 1, in `ns` nanoseconds; the greatest number when it
/// does not fit.
std::uint64_t steps_in(std::uint64_t ns, std::uint64_t step_ps);

/// A length of time on the command line: plain ticks ("25") or with a unit ("25ns", "0.5us").
/// Throws std::invalid_argument that names the text and says what was expected.
Tick parse_duration(std::string_view text, std::uint64_t tick_ps);

/// A shift of times, to the nearest tick: as above, or with a minus sign.
std::int64_t parse_offset(std::string_view text, std::uint64_t tick_ps);

/// A length of time in picoseconds; a unit is required.
std::uint64_t parse_picoseconds(std::string_view text);

/// A number of bytes: "4096", "64KiB", "1MiB", "1GiB", "2GB". Throws std::invalid_argument.
std::uint64_t parse_bytes(std::string_view text);

/// A count: "1000", "1e6". Throws std::invalid_argument.
std::uint64_t parse_count(std::string_view text);

}  // namespace eventloom
