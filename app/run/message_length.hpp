#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/run/source_info.hpp"
#include "core/dataflow/source.hpp"
#include "formats/geometry.hpp"

/// How long the messages of a run are going to be, as far as recordings tell before they are read: rings are made for
/// them.
namespace eventloom {

/// Bytes of an epoch of a recording, on average; 0: it does not state its end before it is read. `passes` over it.
double epoch_bytes(Source& source, std::uint64_t passes);

/// What the fullest source has for a slice at its usual longest; nothing unless all of them tell.
std::optional<std::uint64_t> message_bytes(const std::vector<SourceInfo>& streams, const SliceGeometry& geometry);

}  // namespace eventloom
