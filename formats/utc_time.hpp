#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "formats/ids.hpp"

/// Calendar times. Unix time is nanoseconds since 1970-01-01T00:00:00Z without leap seconds: 23:59:60 has no Unix time
/// and is rejected, and times on either side of it appear a second too close.
namespace eventloom {

/// A calendar time: seconds since 1970 in UTC, without leap seconds, and the fraction of a second.
struct UtcTime {
  std::int64_t seconds = 0;
  std::uint64_t attoseconds = 0;  ///< below 10^18
  bool says_zone = true;          ///< the text had Z or an offset
};

/// Parses ISO 8601: "2026-11-21T10:00:00.123456789Z". A blank may replace the T, and a comma the point, which at most
/// 18 digits may follow. +01:00, -0530 or +01 may replace the Z; without either, the time is UTC. std::nullopt if the
/// text is not such a time.
std::optional<UtcTime> parse_utc(std::string_view text);

/// Whether the text would be such a time if its second were not 60.
bool names_leap_second(std::string_view text);

/// The last leap second since 2006 between two Unix times in seconds, such as "2016-12-31T23:59:60Z"; std::nullopt if
/// there is none.
std::optional<std::string> leap_second_between(std::int64_t from_s, std::int64_t to_s);

/// Parses such a text, with at most nine decimals and with Z or an offset from UTC, to Unix time. Throws
/// std::invalid_argument that names the text and states what was expected; also for times before 1678 and after 2261,
/// which do not fit.
std::int64_t parse_unix_ns(std::string_view text);

/// Text such as "2026-11-21T10:00:00Z", with nine decimals of the second unless they are zero.
std::string utc_text(std::int64_t unix_ns);

/// The time of a tick, given that of tick 0, with twelve decimals if nine are not enough; std::nullopt if it does not
/// fit.
std::optional<std::string> utc_text(std::int64_t tick_0_ns, Tick tick, std::uint64_t tick_ps);

/// Unix time at the zero of White Rabbit stamps, which count nanoseconds of TAI since 1970: adding a stamp gives the
/// Unix time of that stamp. TAI has been 37 s ahead of UTC since 2017; `stamp_ns`, a stamp of the run, selects the
/// difference, back to 2006. An earlier stamp comes from a clock that is not set, and gets today's difference.
std::int64_t unix_ns_of_tai_zero(std::uint64_t stamp_ns);

}  // namespace eventloom
