#include "io/registry/time_scale.hpp"

#include <limits>

#include "formats/units.hpp"
#include "formats/utc_time.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

bool holds_event_numbers(const SourceUri& uri) {
  return numbers_events(uri) || (!scheme_of(uri).holds_events && uri.get("numbered", "no") == "yes");
}

bool numbers_events(const SourceUri& uri) { return scheme_of(uri).holds_events && uri.get("time", "tag") == "tag"; }

bool counts_tai(const SourceUri& uri) {
  return scheme_of(uri).list_mode && uri.get("time", "") == "wr" && uri.get("unit", "ns") == "ns" &&
         uri.get("offset", "").empty();
}

std::optional<std::int64_t> stated_origin(const SourceUri& uri, std::uint64_t tick_ps) {
  __extension__ using SignedWide = __int128;
  constexpr std::uint64_t kAttosecondsPerNs = 1'000'000'000;
  constexpr std::int64_t kPsPerNs = 1000;
  const auto utc = scheme_of(uri).states_origin ? parse_utc(uri.get("origin", "")) : std::nullopt;
  if (!utc || utc->attoseconds % kAttosecondsPerNs != 0) return std::nullopt;
  const auto shift_ps = SignedWide{parse_offset(uri.get("offset", "0"), tick_ps)} * tick_ps;
  const auto tick_0_ns = SignedWide{utc->seconds} * 1'000'000'000 +
                         static_cast<std::int64_t>(utc->attoseconds / kAttosecondsPerNs) - shift_ps / kPsPerNs;
  using Range = std::numeric_limits<std::int64_t>;
  if (shift_ps % kPsPerNs != 0 || tick_0_ns < Range::min() || tick_0_ns > Range::max()) return std::nullopt;
  return static_cast<std::int64_t>(tick_0_ns);
}

}  // namespace eventloom
