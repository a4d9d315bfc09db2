#include "core/fabric/detours.hpp"

#include <algorithm>
#include <deque>
#include <limits>
#include <optional>
#include <string>

#include "core/fabric/link_graph.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"

namespace eventloom {

namespace {

constexpr auto kNowhere = std::numeric_limits<std::uint32_t>::max();

/// The new paths to one node.
class WaysTo {
 public:
  WaysTo(const LinkGraph& graph, const std::vector<std::uint8_t>& dead, const std::vector<double>& load,
         std::uint32_t node)
      : graph_(graph), dead_(dead), load_(load), goal_(graph.of_node(node)), next_(graph.junctions()) {
    find_distances();
  }

  /// Empty if there is no path.
  LinkPath from(std::uint32_t node) {
    LinkPath route;
    for (auto at = graph_.of_node(node); at != goal_ && distance_[at] != kNowhere; at = graph_.end_of(route.back())) {
      if (!next_[at]) next_[at] = least_loaded_from(at);
      route.push_back(*next_[at]);
    }
    return route;
  }

 private:
  /// Computes the distance to the goal from each junction, in links.
  void find_distances() {
    std::vector<std::vector<LinkNumber>> into(graph_.junctions());
    for (Junction at = 0; at < graph_.junctions(); ++at) {
      for (const auto link : graph_.links_from(at)) {
        if (dead_[link] == 0) into[graph_.end_of(link)].push_back(link);
      }
    }
    distance_.assign(graph_.junctions(), kNowhere);
    distance_[goal_] = 0;
    for (std::deque<Junction> reached{goal_}; !reached.empty(); reached.pop_front()) {
      const auto at = reached.front();
      if (at != goal_ && !graph_.forwards(at)) continue;
      for (const auto link : into[at]) {
        const auto before = graph_.begin_of(link);
        if (distance_[before] != kNowhere) continue;
        distance_[before] = distance_[at] + 1;
        reached.push_back(before);
      }
    }
  }

  /// Whether a shortest path from the beginning of the link leads over it.
  [[nodiscard]] bool leads_on(LinkNumber link) const {
    const auto end = graph_.end_of(link);
    const bool nearer = distance_[end] != kNowhere && distance_[end] + 1 == distance_[graph_.begin_of(link)];
    const auto& decided = next_[graph_.begin_of(link)];
    return dead_[link] == 0 && nearer && (end == goal_ || graph_.forwards(end)) && (!decided || *decided == link);
  }

  /// Minimum, over the shortest paths that begin with this link, of the highest load of a link on the path.
  [[nodiscard]] double load_over(LinkNumber link) const {
    double least = std::numeric_limits<double>::infinity();
    const auto end = graph_.end_of(link);
    if (end == goal_) return load_[link];
    for (const auto next : graph_.links_from(end)) {
      if (leads_on(next)) least = std::min(least, load_over(next));
    }
    return std::max(load_[link], least);
  }

  [[nodiscard]] LinkNumber least_loaded_from(Junction at) const {
    std::optional<LinkNumber> best;
    for (const auto link : graph_.links_from(at)) {
      if (leads_on(link) && (!best || load_over(link) < load_over(*best))) best = link;
    }
    return best.value();
  }

  const LinkGraph& graph_;
  const std::vector<std::uint8_t>& dead_;
  const std::vector<double>& load_;  ///< indexed by link
  Junction goal_;
  std::vector<std::optional<LinkNumber>> next_;  ///< indexed by junction; std::nullopt until decided
  std::vector<std::uint32_t> distance_;
};

/// Time that each link needs in an all-to-all exchange, counting only routes without dead links.
std::vector<double> loads(const FabricRoutes& fabric, const auto& is_dead) {
  std::vector<double> load(fabric.rates.size());
  for (const auto& route : fabric.routes) {
    if (is_dead(route)) continue;
    for (const auto link : route) load[link] += 1 / fabric.rates[link];
  }
  return load;
}

void check_directions(const FabricRoutes& fabric, const LinkGraph& graph) {
  for (LinkNumber link = 0; link < fabric.rates.size(); ++link) {
    if (!graph.is_two_way(link)) continue;
    throw UserError(name_of(Setting::dead_link) + ": link '" + fabric.names[link] +
                    "' carries both directions, so that no way around a link can be found; give the platform's links "
                    "sharing_policy=\"SPLITDUPLEX\"");
  }
}

}  // namespace

std::vector<std::pair<std::uint32_t, std::uint32_t>> avoid_links(FabricRoutes& fabric,
                                                                 const std::vector<std::uint8_t>& dead) {
  const LinkGraph graph(fabric);
  check_directions(fabric, graph);
  const auto is_dead = [&](const LinkPath& route) {
    return std::ranges::any_of(route, [&](LinkNumber link) { return dead[link] != 0; });
  };
  auto load = loads(fabric, is_dead);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> changed;
  for (std::uint32_t to = 0; to < fabric.nodes; ++to) {
    std::optional<WaysTo> ways;
    for (std::uint32_t from = 0; from < fabric.nodes; ++from) {
      auto& route = fabric.route(from, to);
      if (!is_dead(route)) continue;
      if (!ways) ways.emplace(graph, dead, load, to);
      route = ways->from(from);
      if (route.empty()) {
        throw UserError(name_of(Setting::dead_link) + ": without it no way is left from node " + std::to_string(from) +
                        " to node " + std::to_string(to));
      }
      for (const auto link : route) load[link] += 1 / fabric.rates[link];
      changed.emplace_back(from, to);
    }
  }
  return changed;
}

}  // namespace eventloom
