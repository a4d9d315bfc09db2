#pragma once

#include <cstddef>
#include <span>

#include "formats/crc32c.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

/// Sets the checksum of the header alone, for an epoch buffer that moves to another place in a stream: its words,
/// damaged or not, keep theirs.
inline void seal_header(EpochBufferHeader& header) {
  const auto bytes = std::as_bytes(std::span(&header, 1));
  header.header_crc = crc32c(bytes.subspan(offsetof(EpochBufferHeader, words_crc)));
}

}  // namespace eventloom
