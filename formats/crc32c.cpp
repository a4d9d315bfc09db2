#include "formats/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>
#include <limits>

namespace eventloom {

std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t seed) {
  // ISA-L takes the length as an int and leaves the inversions at both ends to the caller.
  constexpr std::size_t kPiece = std::numeric_limits<int>::max() / 2;
  std::uint32_t crc = ~seed;
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), kPiece));
    auto* data = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(piece.data()));
    crc = crc32_iscsi(data, static_cast<int>(piece.size()), crc);
    bytes = bytes.subspan(piece.size());
  }
  return ~crc;
}

}  // namespace eventloom
