#pragma once

#include <cstdint>
#include <optional>

#include "core/runtime/json.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Contents of a packed: source, see io/packed/packed_reader.hpp: file, kind, damaged, file_bytes, header, the members
/// of HitSummary, records. Times are in the unit of the URI, or in its ticks of 1 ns. Throws UserError like
/// open_packed().
Json inspect_packed(const SourceUri& uri, std::uint64_t n_events, std::optional<std::uint64_t> tick_ps);

}  // namespace eventloom
