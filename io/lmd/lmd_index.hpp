#pragma once

#include <bit>
#include <cstdint>
#include <string>

#include "formats/lmd.hpp"
#include "io/lmd/lmd_bytes.hpp"

namespace eventloom {

/// Compares the index at the end of a 101/1 file with the elements before it, of which only a hash is kept.
class LmdIndexCheck {
 public:
  /// Records an element at `offset` bytes; call in file order.
  void expect(std::uint64_t offset) {
    hash_ = mixed(hash_, offset / kUnit);
    ++elements_;
  }

  /// Consumes the index at the front of `bytes`; `element` is its header. Returns its defect; empty if it is intact.
  std::string check(LmdBytes& bytes, const LmdElement& element, const LmdFlatHeader& header);

 private:
  static constexpr std::uint64_t kUnit = 4;  ///< bytes
  static constexpr std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    return (std::rotl(hash, 23) ^ value) * 0x9e3779b97f4a7c15ULL;
  }
  static std::uint64_t hash_of(LmdBytes& bytes, std::uint64_t n, std::size_t offset_bytes);

  std::uint64_t hash_ = 0;
  std::uint64_t elements_ = 0;
};

}  // namespace eventloom
