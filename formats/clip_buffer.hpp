#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "formats/epoch_buffer.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

/// Appends to `out` the part of a stored epoch buffer of `stream` that lies in `epochs`, as a separate sealed buffer,
/// and returns its header. `epochs` must overlap those of the buffer. Without hits in that part, nothing is appended.
/// Returns std::nullopt and appends nothing if the words are not intact or violate the marker format. `stored` must be
/// aligned to 4 bytes.
std::optional<EpochBufferHeader> clip_stored(std::span<const std::byte> stored, EpochRange epochs,
                                             const StreamHeader& stream, std::vector<std::byte>& out);

}  // namespace eventloom
