#pragma once

#include <cstdint>
#include <string>

#include "core/runtime/json.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// The output of `inspect` for a file of hits: file, kind, damaged, file_bytes, `header`, the counts of the reader, and
/// the members of HitSummary. Reads the file to its end.
Json inspect_hits(HitReader& reader, const std::string& kind, Json header, std::uint64_t n_events);

}  // namespace eventloom
