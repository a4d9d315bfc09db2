#pragma once

#include <cstdint>
#include <optional>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Whether the times of a source are nanoseconds of TAI since 1970, as White Rabbit stamps are, and not shifted.
bool counts_tai(const SourceUri& uri);

/// Unix time of tick 0, ns, of a source with an `origin` in UTC, and what `offset` makes of it. Nothing of others, and
/// where that is not a whole number of nanoseconds or does not fit.
std::optional<std::int64_t> stated_origin(const SourceUri& uri, std::uint64_t tick_ps);

}  // namespace eventloom
