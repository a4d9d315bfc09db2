#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/run/source_info.hpp"
#include "core/dataflow/source.hpp"
#include "formats/geometry.hpp"

/// Estimates the length of messages from what recordings state before they are read. It determines the size of rings.
namespace eventloom {

/// Returns the mean size of an epoch of a recording in bytes, for `passes` over it; 0 if its end is unknown before it
/// is read.
double epoch_bytes(Source& source, std::uint64_t passes);

/// Returns the usual longest message of the source with the most data per slice; nothing if the size of any source is
/// unknown.
std::optional<std::uint64_t> message_bytes(const std::vector<SourceInfo>& streams, const SliceGeometry& geometry);

}  // namespace eventloom
