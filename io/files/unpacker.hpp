#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace eventloom {

/// Compression format of a file.
enum class Packing : std::uint8_t { none, gzip, zstd, lz4, bzip2, xz, zip };

/// Unpacks compressed data incrementally, in memory independent of their length. Verifies the format's checksums.
class Unpacker {
 public:
  struct Step {
    std::size_t taken = 0;    ///< bytes of the input that were consumed
    std::size_t given = 0;    ///< bytes written to the output
    bool whole = false;       ///< the packed data may end here
    std::string defect = {};  ///< why the data cannot be unpacked; empty if they can
  };

  virtual ~Unpacker() = default;
  /// Consumes as much of `in` and fills as much of `out` as possible. Packed streams may be concatenated.
  virtual Step step(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

/// `packing` must be gzip, zstd or lz4.
std::unique_ptr<Unpacker> make_unpacker(Packing packing);

}  // namespace eventloom
