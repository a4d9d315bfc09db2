#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/json.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Contents of the LMD file that `uri` names, with its first `n_events` complete events. Counts refer to all contents
/// of the file, and event numbers are judged as in a run. If the URI has time=wr or time=word, also the earliest and
/// latest time, in ticks of `tick_ps` (default: 1 ns). Throws UserError when the file cannot be opened or is not an LMD
/// file, or a key of the URI is invalid.
Json inspect_lmd(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
