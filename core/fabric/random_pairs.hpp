#pragma once

#include <cstdint>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// Rates of nodes that send to each other in random pairs; bytes per second.
struct PairRates {
  std::uint32_t patterns = 0;
  double alone = 0;    ///< rate of a single transfer on an idle network
  double mean = 0;     ///< mean rate of a node
  double slowest = 0;  ///< rate of the slowest node, averaged over the patterns: every node's rate if all wait for it
};

/// In each pattern the nodes are paired at random, all pairs send both ways simultaneously, and the links are shared
/// fairly (max-min): what a network with these routes achieves without a schedule. An odd node is left out.
PairRates random_pairs(const FabricRoutes& fabric, std::uint32_t patterns, std::uint64_t seed);

}  // namespace eventloom
