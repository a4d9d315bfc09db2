#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Appends the part of a stored epoch buffer of `stream` that lies in `epochs`, which overlap its own, to `out`, as a
/// sealed buffer of its own; nothing when there are no hits. Returns its header; nothing, and appends nothing, when the
/// words are not intact or violate the marker format. `stored` is aligned to 4 bytes.
std::optional<EpochBufferHeader> clip_stored(std::span<const std::byte> stored, EpochRange epochs,
                                             const StreamHeader& stream, std::vector<std::byte>& out);

}  // namespace eventloom
