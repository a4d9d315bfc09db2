#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/role_layout.hpp"
#include "core/runtime/memory.hpp"
#include "formats/ring_layout.hpp"

/// The memory that the rings of a run need, computed before anything is allocated: in a large run the list of all rings
/// is larger than the rings themselves. All sums saturate instead of overflowing.
namespace eventloom {

/// The number of rings that end on a rank, and of those that begin on it.
struct RingEnds {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

/// Ends of the data rings, indexed by rank.
std::vector<RingEnds> data_rings(const Roles& roles);

/// Bytes of both windows, indexed by rank, as laid out by RingMap; `notes` as for RingMap.
std::vector<std::uint64_t> window_bytes(const Roles& roles, const RingGeometry& geometry,
                                        const std::optional<RingGeometry>& notes);

/// Bytes, indexed by rank: its windows, the ends of its rings, and the list of its rings.
std::vector<std::uint64_t> exchange_bytes(const Roles& roles, const RingGeometry& geometry,
                                          const std::optional<RingGeometry>& notes);

/// Bytes that a rank is going to allocate, and the bounds on them.
struct MemoryNeed {
  std::string host;
  std::uint64_t bytes = 0;
  std::vector<MemoryBound> bounds;
};

/// Describes the first bound exceeded by the ranks that share it: "the rings of the ranks on host n1 need 53248 MiB,
/// but only 12288 MiB are available on the host". Empty if all bounds hold.
std::string memory_shortage(const std::vector<MemoryNeed>& ranks);

}  // namespace eventloom
