#include "core/simulation/link_load.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "core/simulation/platform.hpp"

namespace eventloom {

namespace s4u = simgrid::s4u;

template <class Visit>
void LinkLoad::visit_all(const Visit& visit) const {
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    for (std::size_t k = 0; k < hosts_.size(); ++k) {
      if (i == k) continue;
      for (const auto* link : route_between(*hosts_[i], *hosts_[k]).links) visit(link, i, k);
    }
  }
}

double LinkLoad::ideal_rate() const {
  std::unordered_map<const s4u::Link*, double> flows;
  visit_all([&](const s4u::Link* link, std::size_t, std::size_t) { flows[link] += 1; });
  double rate = std::numeric_limits<double>::infinity();
  for (const auto& [link, n] : flows) rate = std::min(rate, link->get_bandwidth() / n);
  return rate * static_cast<double>(hosts_.size() - 1);
}

std::vector<UsedLink> LinkLoad::busiest(const std::vector<std::uint64_t>& bytes, double seconds,
                                        std::size_t most) const {
  std::unordered_map<const s4u::Link*, double> carried;
  visit_all([&](const s4u::Link* link, std::size_t i, std::size_t k) {
    carried[link] += static_cast<double>(bytes[i * hosts_.size() + k]);
  });
  std::vector<UsedLink> links;
  for (const auto& [link, of_link] : carried) {
    links.push_back({link->get_name(), of_link / (link->get_bandwidth() * seconds)});
  }
  // By name where equal, as the order in the map depends on addresses.
  const auto order = [](const UsedLink& link) { return std::tuple(-link.share, link.name); };
  std::ranges::sort(links, {}, order);
  links.resize(std::min(links.size(), most));
  return links;
}

}  // namespace eventloom
