#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/runtime/json.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// The output of `inspect` for a group that a run reads with this URI: its datasets and its hits.
Json inspect_hdf5(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

/// Likewise for a whole file: its groups and datasets with types, shapes, units and first rows; and its hits, if a run
/// reads them without keys, or else why it does not.
Json inspect_hdf5_file(const std::string& path, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
