#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// What is in the LMD file that `uri` names, with its first `n_events` events in full. Counts are of what is in
/// the file; numbers are judged as a run would. Where the URI has time=wr or time=word, the earliest and the
/// latest time, in ticks of 1 ns, are told too.
/// Throws UserError when the file cannot be opened or is no LMD file, or the URI's keys make no sense.
nlohmann::ordered_json inspect_lmd(const SourceUri& uri, std::uint64_t n_events);

}  // namespace eventloom
