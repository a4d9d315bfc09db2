#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// Leads the routes that cross a dead link around it, as a subnet manager does: on a shortest way over other links that
/// the routes use, the least loaded when all send to all, and by destination: a switch hands all that it sends to a
/// node on a new way to the same link. Routes that cross no dead link stay. `dead`: by link, not 0 for a dead one.
/// Returns the pairs (from, to) whose routes have changed. Throws UserError when there is no way between two nodes, or
/// when a link carries both directions.
std::vector<std::pair<std::uint32_t, std::uint32_t>> avoid_links(FabricRoutes& fabric,
                                                                 const std::vector<std::uint8_t>& dead);

}  // namespace eventloom
