#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

struct UsedLink {
  std::string name;
  double share = 0;  ///< fraction of its capacity in the time
};

/// Bytes per second that each node can receive when all send equally to all others, limited by the most loaded link.
/// Infinite for a single node.
double ideal_rate(const FabricRoutes& fabric);

/// The busiest links, at most `most`, if node i sent bytes[i * nodes + k] to node k within `seconds`.
std::vector<UsedLink> busiest_links(const FabricRoutes& fabric, const std::vector<std::uint64_t>& bytes, double seconds,
                                    std::size_t most);

/// Bytes per second of a single transfer on an idle network, between the nodes for which it is highest.
double full_rate(const FabricRoutes& fabric);

}  // namespace eventloom
