#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace eventloom {

/// A link carries data in one direction. Links are numbered from 0, in the order of the routes that cross them.
using LinkNumber = std::uint32_t;
/// Links in the order of crossing.
using LinkPath = std::vector<LinkNumber>;

/// Which links the data between the nodes of a network cross.
struct FabricRoutes {
  std::uint32_t nodes = 0;
  std::vector<std::string> names;  ///< indexed by link
  std::vector<double> rates;       ///< indexed by link, bytes per second
  std::vector<LinkPath> routes;    ///< [from * nodes + to]; empty within a node
  std::vector<std::uint8_t> free;  ///< indexed by link: each flow gets its full rate. Empty: all links are shared

  [[nodiscard]] const LinkPath& route(std::size_t from, std::size_t to) const { return routes[from * nodes + to]; }
  [[nodiscard]] bool is_shared(LinkNumber link) const { return free.empty() || free[link] == 0; }
  [[nodiscard]] LinkPath& route(std::size_t from, std::size_t to) { return routes[from * nodes + to]; }
};

}  // namespace eventloom
