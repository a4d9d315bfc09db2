#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/files/unpacker.hpp"

namespace eventloom {

/// What compressed data consist of. `lz4_legacy` frames are those of `lz4 -l`; `skipped` frames hold metadata, as those
/// with which pzstd begins.
enum class FrameKind : std::uint8_t { none, gzip, zstd, lz4, lz4_legacy, skipped };

inline constexpr std::size_t kFrameMagicBytes = 4;
/// The magic number of a frame to be skipped, and the length of what follows.
inline constexpr std::size_t kSkippedFrameHead = 8;

/// The kind of the frame that begins with `head`; none if `head` has fewer than kFrameMagicBytes.
FrameKind frame_kind(std::span<const std::byte> head);

/// The length of a frame to be skipped, of which `head` has at least kSkippedFrameHead bytes.
std::uint64_t skipped_frame_bytes(std::span<const std::byte> head);

/// Unpacks frames of gzip, zstd or lz4, one after the other: `kind` is one of these.
std::unique_ptr<Unpacker> make_frame_unpacker(FrameKind kind);

/// Unpacks frames of all kinds in any order, with zeros between and after them, as on tapes.
std::unique_ptr<Unpacker> make_unpacker();

}  // namespace eventloom
