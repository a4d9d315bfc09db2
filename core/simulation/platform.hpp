#pragma once

#include <simgrid/s4u.hpp>
#include <vector>

#include "core/simulation/simulation.hpp"

namespace eventloom {

/// Loads the platform into `engine`, which must be new, and returns the hosts of the first `settings.nodes` nodes, by
/// number. Throws UserError if the topology or the file is invalid or has fewer nodes.
std::vector<simgrid::s4u::Host*> load_platform(simgrid::s4u::Engine& engine, const SimulationSettings& settings);

/// The path of data between two hosts.
struct Route {
  std::vector<simgrid::s4u::Link*> links;
  double latency = 0;
  double rate = 0;  ///< rate of the slowest link
};
/// The hosts must differ.
Route route_between(const simgrid::s4u::Host& from, const simgrid::s4u::Host& to);

}  // namespace eventloom
