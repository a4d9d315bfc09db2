#pragma once

#include <cstdint>
#include <optional>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Whether the times of an imported or live source are event numbers.
bool holds_event_numbers(const SourceUri& uri);
/// Whether they are the numbers of recorded or live events, which EventNumbers unwraps, not ClockTurns.
bool numbers_events(const SourceUri& uri);

/// Whether the times of a source are unshifted nanoseconds of TAI since 1970, like White Rabbit stamps.
bool counts_tai(const SourceUri& uri);

/// Unix time of tick 0 in ns, after `offset`, for a source with an `origin` in UTC. std::nullopt for other sources, and
/// when the result is not a whole number of nanoseconds or does not fit 64 bits.
std::optional<std::int64_t> stated_origin(const SourceUri& uri, std::uint64_t tick_ps);

}  // namespace eventloom
