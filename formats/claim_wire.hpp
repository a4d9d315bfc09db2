#pragma once

#include <cstdint>
#include <type_traits>

/// What goes through the rings between builders and the assigner, where builders claim their slices;
/// little-endian. A cell holds one or more Claims, or one Assignment with its builders; what is more goes in the next
/// cells, so that rings stay small however many builders there are.
namespace eventloom {

inline constexpr std::uint64_t kMostClaimsInNote = 128;
inline constexpr std::uint64_t kMostSlicesInNote = 1024;

/// What a builder says of itself; the numbers count since the start.
struct Claim {
  std::uint64_t claimed = 0;  ///< slices that it has claimed
  std::uint64_t built = 0;    ///< of these, the first so many are done with
  std::uint32_t builder = 0;
  std::uint16_t finished = 0;  ///< it will claim no more
  std::uint16_t reserved = 0;
  std::uint64_t gap_begin = 0;  ///< no source has anything for the slices from here on
  std::uint64_t gap_end = 0;    ///< up to this one
};
static_assert(sizeof(Claim) == 40 && std::is_trivially_copyable_v<Claim>);

/// To every rank that sends to builders or builds: who gets the next slices.
struct Assignment {
  std::uint64_t first_slice = 0;  ///< nobody gets those between the last that was assigned and this one
  std::uint32_t n = 0;            ///< slices; their builders follow, 4 bytes each
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Assignment) == 16 && std::is_trivially_copyable_v<Assignment>);

}  // namespace eventloom
