#pragma once

#include <cstdint>
#include <vector>

#include "core/fabric/fabric_routes.hpp"

namespace eventloom {

/// A switch or a node.
using Junction = std::uint32_t;

/// Where links meet, as revealed by the routes: a link ends where the next one of a route begins.
class LinkGraph {
 public:
  explicit LinkGraph(const FabricRoutes& fabric);

  [[nodiscard]] std::uint32_t junctions() const { return static_cast<std::uint32_t>(out_.size()); }
  [[nodiscard]] Junction begin_of(LinkNumber link) const { return begin_[link]; }
  [[nodiscard]] Junction end_of(LinkNumber link) const { return end_[link]; }
  [[nodiscard]] Junction of_node(std::uint32_t node) const { return nodes_[node]; }
  /// The links that begin at the junction, in ascending order.
  [[nodiscard]] const std::vector<LinkNumber>& links_from(Junction at) const { return out_[at]; }
  /// Whether any route continues from the junction: nodes of a star forward nothing, nodes of a torus do.
  [[nodiscard]] bool forwards(Junction at) const { return forwards_[at] != 0; }
  /// Whether the routes use the link in both directions, so that its ends cannot be distinguished.
  [[nodiscard]] bool is_two_way(LinkNumber link) const { return begin_[link] == end_[link]; }

 private:
  std::vector<Junction> begin_;  ///< indexed by link
  std::vector<Junction> end_;    ///< indexed by link
  std::vector<Junction> nodes_;
  std::vector<std::vector<LinkNumber>> out_;
  std::vector<std::uint8_t> forwards_;
};

}  // namespace eventloom
