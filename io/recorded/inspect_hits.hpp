#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// The output of `inspect` for a file of hits: file, kind, damaged, file_bytes, `header`, the counts of the reader, and
/// the members of HitSummary. Reads the file to its end.
nlohmann::ordered_json inspect_hits(HitReader& reader, const std::string& kind, nlohmann::ordered_json header,
                                    std::uint64_t n_events);

}  // namespace eventloom
