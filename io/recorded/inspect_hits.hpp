#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// What `inspect` says of a file of hits, which it reads to its end: file, kind, damaged, file_bytes, `header`, the
/// counts of the reader, and what HitSummary has.
nlohmann::ordered_json inspect_hits(HitReader& reader, const std::string& kind, nlohmann::ordered_json header,
                                    std::uint64_t n_events);

}  // namespace eventloom
