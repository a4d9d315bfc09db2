#pragma once

#include <memory>

#include "io/files/unpacker.hpp"

namespace eventloom {

/// Unpacks frames of gzip, zstd or lz4, one after the other: `kind` is one of these.
std::unique_ptr<Unpacker> make_frame_unpacker(FrameKind kind);

}  // namespace eventloom
