#include "core/fabric/link_graph.hpp"

#include <map>
#include <numeric>

namespace eventloom {

namespace {

/// Disjoint sets of points, each of which is one place.
class Places {
 public:
  explicit Places(std::size_t points) : parent_(points) { std::iota(parent_.begin(), parent_.end(), 0U); }

  void join(std::uint32_t a, std::uint32_t b) { parent_[find(a)] = find(b); }
  std::uint32_t find(std::uint32_t point) {
    while (parent_[point] != point) point = parent_[point] = parent_[parent_[point]];
    return point;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace

LinkGraph::LinkGraph(const FabricRoutes& fabric) {
  const auto n_links = static_cast<std::uint32_t>(fabric.rates.size());
  const auto begin = [&](LinkNumber link) { return fabric.nodes + 2 * link; };
  const auto end = [&](LinkNumber link) { return fabric.nodes + 2 * link + 1; };
  Places places(fabric.nodes + 2 * std::size_t{n_links});
  for (std::uint32_t from = 0; from < fabric.nodes; ++from) {
    for (std::uint32_t to = 0; to < fabric.nodes; ++to) {
      auto at = from;
      for (const auto link : fabric.route(from, to)) {
        places.join(at, begin(link));
        at = end(link);
      }
      if (from != to) places.join(at, to);
    }
  }
  std::map<std::uint32_t, Junction> numbers;
  const auto junction = [&](std::uint32_t point) {
    return numbers.try_emplace(places.find(point), static_cast<Junction>(numbers.size())).first->second;
  };
  for (std::uint32_t node = 0; node < fabric.nodes; ++node) nodes_.push_back(junction(node));
  for (LinkNumber link = 0; link < n_links; ++link) {
    begin_.push_back(junction(begin(link)));
    end_.push_back(junction(end(link)));
  }
  out_.resize(numbers.size());
  forwards_.resize(numbers.size());
  for (LinkNumber link = 0; link < n_links; ++link) out_[begin_[link]].push_back(link);
  for (const auto& route : fabric.routes) {
    for (std::size_t i = 1; i < route.size(); ++i) forwards_[begin_[route[i]]] = 1;
  }
}

}  // namespace eventloom
