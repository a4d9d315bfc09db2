#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/role_layout.hpp"
#include "core/runtime/memory.hpp"
#include "formats/ring_layout.hpp"

/// The memory that the rings of a run need, computed before anything is allocated: in a large run the list of all rings
/// is larger than the rings themselves. All sums saturate at the largest number, so that none overflows to a small one.
namespace eventloom {

/// The number of rings that end on a rank, and of those that begin on it.
struct RingEnds {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

/// The rings that carry data, by rank.
std::vector<RingEnds> data_rings(const Roles& roles);

/// Bytes of both windows of each rank, as RingMap lays them out; `notes` as for RingMap.
std::vector<std::uint64_t> window_bytes(const Roles& roles, const RingGeometry& geometry,
                                        const std::optional<RingGeometry>& notes);

/// Bytes by rank: its window, the ends of its rings, and its list of all rings.
std::vector<std::uint64_t> exchange_bytes(const Roles& roles, const RingGeometry& geometry,
                                          const std::optional<RingGeometry>& notes);

/// The bytes that a rank is going to allocate, and the bounds on them.
struct MemoryNeed {
  std::string host;
  std::uint64_t bytes = 0;
  std::vector<MemoryBound> bounds;
};

/// Where the ranks that share a bound together need more than it allows: "the rings of the ranks on host n1 need 53248
/// MiB, but only 12288 MiB are available on the host"; empty: nowhere.
std::string memory_shortage(const std::vector<MemoryNeed>& ranks);

}  // namespace eventloom
