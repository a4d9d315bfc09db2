#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "formats/units.hpp"
#include "formats/utc_time.hpp"
#include "io/recorded/fine_ticks.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// A duration, or a time since 1970, in 10^-18 s.
__extension__ using Attoseconds = __int128;

inline constexpr std::int64_t kAttosecondsPerPs = 1'000'000;
inline constexpr std::int64_t kAttosecondsPerS = 1'000'000'000'000'000'000;

/// A number of units of time.
struct TimeTerm {
  Decimal value;
  Decimal unit_ps;
  bool negative = false;
};

/// A time that need not be whole attoseconds.
struct ExactTime {
  Attoseconds below = 0;  ///< rounded down
  bool whole = true;      ///< `below` is the time
};

/// The sum of the terms, each divided by `divisor`; std::nullopt if they are too large.
std::optional<ExactTime> attoseconds_of(std::span<const TimeTerm> terms, std::uint64_t divisor);

/// Parses a decimal number with or without a minus sign; std::nullopt if it is invalid, too large, or not a whole
/// number of attoseconds.
std::optional<Attoseconds> attoseconds_of(std::string_view text, std::uint64_t unit_ps);
Attoseconds attoseconds_of(const UtcTime& time);

/// std::nullopt if the magnitude is 2^75 ticks or more.
std::optional<FineTicks> fine_of(Attoseconds time, std::uint64_t tick_ps);

inline constexpr const char* kNoLeapSeconds =
    "a time of its own: it is a leap second, which UTC in seconds since 1970 does not count; across one, give times as "
    "numbers of a clock that counts it, such as TAI";

/// The time that becomes tick 0.
struct OriginKey {
  Attoseconds at = 0;
  bool utc = false;  ///< `at` counts from 1970
};

/// The value of the key `origin`: UTC, a duration such as -5ms, or a plain number of ticks. std::nullopt if the key is
/// absent. Throws UserError for another form.
std::optional<OriginKey> origin_of(const SourceUri& uri, std::uint64_t tick_ps);

}  // namespace eventloom
