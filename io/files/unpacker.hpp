#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace eventloom {

/// Compression format of a file.
enum class Packing : std::uint8_t { none, gzip, zstd, lz4, bzip2, xz, zip };

/// A kind of piece of compressed data. `lz4_legacy` frames are those of `lz4 -l`; `skipped` frames hold metadata: pzstd
/// begins with one.
enum class FrameKind : std::uint8_t { none, gzip, zstd, lz4, lz4_legacy, skipped };

/// Unpacks compressed data incrementally, in memory independent of their length: that of a window, which zstd frames
/// state (2 GiB at most, usually 8 MiB), or of a block. Verifies the checksums that the data have.
class Unpacker {
 public:
  struct Step {
    std::size_t taken = 0;    ///< bytes of the input that were consumed
    std::size_t given = 0;    ///< bytes written to the output
    bool whole = false;       ///< the packed data may end here
    std::string defect = {};  ///< why the data cannot be unpacked; empty if they can
  };

  virtual ~Unpacker() = default;
  /// Consumes some of `in` and fills some of `out`: as much as possible, or up to the end of a frame.
  virtual Step step(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

}  // namespace eventloom
