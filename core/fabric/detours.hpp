#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// Reroutes around dead links, as a subnet manager does. New routes are shortest paths over other links that the
/// routes use, over the least loaded in an all-to-all exchange, and determined by destination: a switch forwards
/// everything for a node on a new route over the same link. Routes that cross no dead link stay. `dead`: indexed by
/// link, nonzero for a dead one. Returns the pairs (from, to) whose routes have changed. Throws UserError if two nodes
/// are no longer connected, or if a link carries both directions.
std::vector<std::pair<std::uint32_t, std::uint32_t>> avoid_links(FabricRoutes& fabric,
                                                                 const std::vector<std::uint8_t>& dead);

}  // namespace eventloom
