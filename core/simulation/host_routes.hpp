#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "core/fabric/fabric_routes.hpp"
#include "core/simulation/simulation.hpp"

namespace eventloom {

/// The routes between `hosts`, which become the nodes in this order.
FabricRoutes routes_between(const std::vector<simgrid::s4u::Host*>& hosts);

/// Slows links down, and reroutes around dead links, as set in `settings`. Call before the simulation begins. Throws
/// UserError if a link does not exist or cannot be avoided.
void disturb_links(const std::vector<simgrid::s4u::Host*>& hosts, const SimulationSettings& settings);

}  // namespace eventloom
