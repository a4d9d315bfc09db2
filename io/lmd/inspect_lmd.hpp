#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Contents of the LMD file that `uri` names, with its first `n_events` complete events. Counts are of the contents of
/// the file; numbers are judged as in a run. With time=wr or time=word in the URI, also the earliest and the latest
/// time, in ticks of 1 ns.
/// Throws UserError when the file cannot be opened or is not an LMD file, or a key of the URI is invalid.
nlohmann::ordered_json inspect_lmd(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
