#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

struct UsedLink {
  std::string name;
  double share = 0;  ///< of what it could have carried in the time
};

/// The bytes per second that each node can receive when all send the same to all others: what the most loaded link
/// allows. Infinite for one node.
double ideal_rate(const FabricRoutes& fabric);

/// The busiest links, `most` at most, when in `seconds` node i sent bytes[i * nodes + k] to node k.
std::vector<UsedLink> busiest_links(const FabricRoutes& fabric, const std::vector<std::uint64_t>& bytes, double seconds,
                                    std::size_t most);

/// The bytes per second of one transfer that has the network for itself, between the nodes where that is most.
double full_rate(const FabricRoutes& fabric);

}  // namespace eventloom
