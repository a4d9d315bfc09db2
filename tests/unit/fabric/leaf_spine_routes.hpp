#pragma once

#include <string>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

constexpr double kLinkRate = 1e9;

/// Leaf switches with `per_leaf` nodes and a link to each of `spines` spines; data to a node take the spine given by
/// the node's number modulo `spines`. Links "n0_UP", "n0_DOWN" of nodes, "l0s1_UP", "l0s1_DOWN" of leaf 0 and spine 1.
inline FabricRoutes leaf_spine(std::uint32_t leaves, std::uint32_t per_leaf, std::uint32_t spines) {
  FabricRoutes fabric;
  fabric.nodes = leaves * per_leaf;
  const auto add = [&](const std::string& cable) {
    for (const char* direction : {"_UP", "_DOWN"}) fabric.names.push_back(cable + direction);
  };
  for (std::uint32_t node = 0; node < fabric.nodes; ++node) add("n" + std::to_string(node));
  for (std::uint32_t leaf = 0; leaf < leaves; ++leaf) {
    for (std::uint32_t spine = 0; spine < spines; ++spine) {
      add("l" + std::to_string(leaf) + "s" + std::to_string(spine));
    }
  }
  fabric.rates.assign(fabric.names.size(), kLinkRate);
  for (std::uint32_t from = 0; from < fabric.nodes; ++from) {
    for (std::uint32_t to = 0; to < fabric.nodes; ++to) {
      auto& path = fabric.routes.emplace_back();
      if (from == to) continue;
      const auto up = [&](std::uint32_t node) { return 2 * (fabric.nodes + node / per_leaf * spines + to % spines); };
      path.push_back(2 * from);
      if (from / per_leaf != to / per_leaf) path.insert(path.end(), {up(from), up(to) + 1});
      path.push_back(2 * to + 1);
    }
  }
  return fabric;
}

inline LinkNumber link_called(const FabricRoutes& fabric, const std::string& name) {
  LinkNumber link = 0;
  while (fabric.names.at(link) != name) ++link;
  return link;
}

}  // namespace eventloom
