#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/role_layout.hpp"
#include "core/runtime/memory.hpp"
#include "formats/ring_layout.hpp"

/// What the rings of a run take, before anything is allocated: of a big run the list of all rings is longer than what
/// it describes. All sums end at the largest number there is, so that none comes out small.
namespace eventloom {

/// Rings that end on a rank, and rings that begin on it.
struct RingEnds {
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};

/// Of the rings that carry data, by rank.
std::vector<RingEnds> data_rings(const Roles& roles);

/// Window bytes by rank, as RingMap lays them out. `notes`: as there.
std::vector<std::uint64_t> window_bytes(const Roles& roles, const RingGeometry& geometry,
                                        const std::optional<RingGeometry>& notes);

/// By rank: the window, the ends of its rings, and its list of all rings.
std::vector<std::uint64_t> exchange_bytes(const Roles& roles, const RingGeometry& geometry,
                                          const std::optional<RingGeometry>& notes);

/// What a rank is going to allocate, and what bounds it.
struct MemoryNeed {
  std::string host;
  std::uint64_t bytes = 0;
  std::vector<MemoryBound> bounds;
};

/// Where ranks need more than there is, with those that share it: "the rings of the ranks on host n1 need 52 GiB, but
/// only 12 GiB are available on the host"; empty: nowhere.
std::string memory_shortage(const std::vector<MemoryNeed>& ranks);

}  // namespace eventloom
