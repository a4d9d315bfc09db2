#include "core/fabric/link_load.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

namespace eventloom {

double ideal_rate(const FabricRoutes& fabric) {
  std::vector<double> flows(fabric.rates.size());
  for (const auto& route : fabric.routes) {
    for (const auto link : route) flows[link] += 1;
  }
  double rate = std::numeric_limits<double>::infinity();
  for (LinkNumber link = 0; link < flows.size(); ++link) rate = std::min(rate, fabric.rates[link] / flows[link]);
  return rate * (fabric.nodes - 1.0);
}

std::vector<UsedLink> busiest_links(const FabricRoutes& fabric, const std::vector<std::uint64_t>& bytes, double seconds,
                                    std::size_t most) {
  std::vector<double> carried(fabric.rates.size());
  for (std::size_t pair = 0; pair < fabric.routes.size(); ++pair) {
    for (const auto link : fabric.routes[pair]) carried[link] += static_cast<double>(bytes[pair]);
  }
  std::vector<UsedLink> links;
  for (LinkNumber link = 0; link < carried.size(); ++link) {
    links.push_back({fabric.names[link], carried[link] / (fabric.rates[link] * seconds)});
  }
  const auto order = [](const UsedLink& link) { return std::tuple(-link.share, link.name); };
  std::ranges::sort(links, {}, order);
  links.resize(std::min(links.size(), most));
  return links;
}

double full_rate(const FabricRoutes& fabric) {
  double most = 0;
  for (const auto& route : fabric.routes) {
    double least = route.empty() ? 0 : std::numeric_limits<double>::infinity();
    for (const auto link : route) least = std::min(least, fabric.rates[link]);
    most = std::max(most, least);
  }
  return most;
}

}  // namespace eventloom
