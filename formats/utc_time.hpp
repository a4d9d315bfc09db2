#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/ids.hpp"

/// Times of day. Unix time: nanoseconds since 1970-01-01T00:00:00Z, which does not count leap seconds: 23:59:60 has no
/// Unix time and is not read, and times on both sides of it are a second closer than they were.
namespace eventloom {

/// A time of the calendar: seconds since 1970 in UTC, without leap seconds, and what follows the point.
struct UtcTime {
  std::int64_t seconds = 0;
  std::uint64_t attoseconds = 0;  ///< below 10^18
  bool says_zone = true;          ///< the text had Z or an offset
};

/// ISO 8601: "2026-11-21T10:00:00.123456789Z". A blank may stand for the T; +01:00, -0530 or +01 for the Z, or nothing,
/// which is UTC; a comma for the point; at most 18 digits follow it. Nothing when the text is not such a time.
std::optional<UtcTime> parse_utc(std::string_view text);

/// Whether it would be such a time if its second were not 60.
bool names_leap_second(std::string_view text);

/// The last leap second since 2006 between two Unix times, in seconds: "2016-12-31T23:59:60Z"; nothing when there is
/// none.
std::optional<std::string> leap_second_between(std::int64_t from_s, std::int64_t to_s);

/// Such a text with at most nine decimals, and Z or the offset from UTC, as Unix time. Throws std::invalid_argument
/// that names the text and says what was expected; also before 1678 and after 2261, which do not fit.
std::int64_t parse_unix_ns(std::string_view text);

/// "2026-11-21T10:00:00Z"; with nine decimals of the second unless they are zero.
std::string utc_text(std::int64_t unix_ns);

/// The time of a tick given that of tick 0, with twelve decimals where nine are not enough. Nothing when it does not
/// fit.
std::optional<std::string> utc_text(std::int64_t tick_0_ns, Tick tick, std::uint64_t tick_ps);

/// Unix time at the zero of White Rabbit stamps, which count nanoseconds of TAI since 1970, such that adding a stamp
/// gives the Unix time of the stamp. TAI is ahead of UTC by 37 s since 2017; `stamp_ns`, one of the run, tells
/// whether it is older, back to 2006. Stamps before that are of a clock that is not set, and taken as of today.
std::int64_t unix_ns_of_tai_zero(std::uint64_t stamp_ns);

}  // namespace eventloom
