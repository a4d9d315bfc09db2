#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/files/unpacker.hpp"

namespace eventloom {

inline constexpr std::size_t kFrameMagicBytes = 4;
/// The magic number of a frame to be skipped, and the length of what follows.
inline constexpr std::size_t kSkippedFrameHead = 8;

/// The kind of the frame that begins with `head`; none if `head` has fewer than kFrameMagicBytes.
FrameKind frame_kind(std::span<const std::byte> head);

/// The length of a frame to be skipped, of which `head` has at least kSkippedFrameHead bytes.
std::uint64_t skipped_frame_bytes(std::span<const std::byte> head);

/// Unpacks frames of all kinds in any order, with zeros between and after them, as on tapes.
std::unique_ptr<Unpacker> make_unpacker();

}  // namespace eventloom
