#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "core/fabric/fabric_routes.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// The routes between the hosts, which are the nodes in this order.
FabricRoutes routes_between(const std::vector<simgrid::s4u::Host*>& hosts);

/// Slows links down, and leads routes around dead links, as the settings say. Before the simulation begins. Throws
/// UserError when there are no such links, or no way around them.
void disturb_links(const std::vector<simgrid::s4u::Host*>& hosts, const SimulationSettings& settings);

}  // namespace eventloom
