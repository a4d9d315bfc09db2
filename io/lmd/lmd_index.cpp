#include "io/lmd/lmd_index.hpp"

#include <cstring>

namespace eventloom {

std::string LmdIndexCheck::check(LmdBytes& bytes, const LmdElement& element, const LmdFlatHeader& header) {
  const std::uint64_t offset = bytes.offset();
  const std::uint64_t size = element.bytes();
  if (size > bytes.left()) {
    const auto left = bytes.left();
    bytes.skip(left);
    return "an index of " + std::to_string(size) + " bytes where the file has " + std::to_string(left);
  }
  const bool known = header.offset_bytes == 4 || header.offset_bytes == 8;
  if (!known || size != kLmdIndexHeaderBytes + header.offset_bytes * (elements_ + 1)) {
    bytes.skip(size);
    return "an index of " + std::to_string(size) + " bytes for " + std::to_string(elements_) +
           " elements, with offsets of " + std::to_string(header.offset_bytes) + " bytes";
  }
  const std::uint64_t expected = mixed(hash_, offset / kUnit);
  bytes.skip(kLmdIndexHeaderBytes);
  if (hash_of(bytes, elements_ + 1, header.offset_bytes) != expected) {
    return "an index whose offsets are not those of the elements";
  }
  if (header.table != 0 && header.table != offset / kUnit) {
    return "the index; the file header states it at byte " + std::to_string(kUnit * header.table);
  }
  return {};
}

/// Hash of the next `n` offsets, which must be in the file.
std::uint64_t LmdIndexCheck::hash_of(LmdBytes& bytes, std::uint64_t n, std::size_t offset_bytes) {
  std::uint64_t hash = 0;
  for (; n > 0; --n) {
    const auto front = bytes.front(offset_bytes);
    if (front.size() < offset_bytes) return ~hash;  // the disk failed, which is reported elsewhere
    std::uint64_t offset = 0;
    std::memcpy(&offset, front.data(), offset_bytes);
    // A 64-bit offset in the other byte order also has its two words exchanged.
    if (bytes.swapped() && offset_bytes == 8) offset = std::rotl(offset, 32);
    hash = mixed(hash, offset);
    bytes.skip(offset_bytes);
  }
  return hash;
}

}  // namespace eventloom
