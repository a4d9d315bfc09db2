#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace eventloom {

/// How the contents of a file are compressed.
enum class Packing : std::uint8_t { none, gzip, zstd, lz4, bzip2, xz, zip };

/// Unpacks compressed data piece by piece, in memory that does not depend on their length. The checksums of the format
/// are verified.
class Unpacker {
 public:
  struct Step {
    std::size_t taken = 0;    ///< bytes of the input that need not come again
    std::size_t given = 0;    ///< bytes of the output
    bool whole = false;       ///< the packed data may end here
    std::string defect = {};  ///< why they cannot be unpacked; empty when they can
  };

  virtual ~Unpacker() = default;
  /// Takes from `in` and gives to `out` as much as possible. Several packed streams may follow each other.
  virtual Step step(std::span<const std::byte> in, std::span<std::byte> out) = 0;
};

/// `packing`: gzip, zstd or lz4.
std::unique_ptr<Unpacker> make_unpacker(Packing packing);

}  // namespace eventloom
