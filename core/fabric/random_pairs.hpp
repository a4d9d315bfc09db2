#pragma once

#include <cstdint>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// What nodes get that send to each other in pairs at random; bytes per second.
struct PairRates {
  std::uint32_t patterns = 0;
  double alone = 0;    ///< of one transfer that has the network for itself
  double mean = 0;     ///< of a node
  double slowest = 0;  ///< of the slowest node, on average over the patterns: what all get if all wait for it
};

/// In each pattern the nodes are paired at random, all pairs send both ways at a time, and the links are shared fairly
/// (max-min): what a network with these routes reaches where nobody arranges the traffic. An odd node is left out.
PairRates random_pairs(const FabricRoutes& fabric, std::uint32_t patterns, std::uint64_t seed);

}  // namespace eventloom
