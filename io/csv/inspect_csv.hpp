#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/json.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The contents shown by `inspect`: the columns that are used, and the hits, `n_events` of them in full. By default,
/// times are in ps if those of the file are, or their units differ by channel, else in ns.
Json inspect_csv(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
