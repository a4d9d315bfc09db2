#include "core/simulation/host_routes.hpp"

#include <string>
#include <unordered_map>

#include "core/fabric/detours.hpp"
#include "core/fabric/link_names.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/setting.hpp"
#include "core/simulation/platform.hpp"

namespace eventloom {

namespace {

namespace s4u = simgrid::s4u;

/// The routes, and the links by number.
struct HostRoutes {
  explicit HostRoutes(const std::vector<s4u::Host*>& hosts) {
    fabric.nodes = static_cast<std::uint32_t>(hosts.size());
    std::unordered_map<s4u::Link*, LinkNumber> numbers;
    for (const auto* from : hosts) {
      for (const auto* to : hosts) {
        auto& path = fabric.routes.emplace_back();
        if (from == to) continue;
        for (auto* link : route_between(*from, *to).links) {
          const auto found = numbers.try_emplace(link, static_cast<LinkNumber>(links.size()));
          if (found.second) links.push_back(link);
          path.push_back(found.first->second);
        }
      }
    }
    for (const auto* link : links) {
      fabric.names.push_back(link->get_name());
      fabric.rates.push_back(link->get_bandwidth());
      fabric.free.push_back(link->get_sharing_policy() == s4u::Link::SharingPolicy::FATPIPE ? 1 : 0);
    }
  }

  FabricRoutes fabric;
  std::vector<s4u::Link*> links;
};

void slow_down(HostRoutes& routes, const std::vector<OfLink>& slow_links) {
  for (const auto& slow : slow_links) {
    for (const auto link : links_named(routes.fabric, slow.name, name_of(Setting::slow_link))) {
      routes.fabric.rates[link] *= slow.factor;
      routes.links[link]->set_bandwidth(routes.fabric.rates[link]);
    }
  }
}

/// SimGrid looks up bypass routes before it asks the topology.
void add_route(const s4u::Host& from, const s4u::Host& to, const std::vector<s4u::LinkInRoute>& links) {
  if (from.get_englobing_zone() != to.get_englobing_zone()) {
    throw UserError(name_of(Setting::dead_link) +
                    ": the ways around it lead through several zones of the platform, which SimGrid's "
                    "routes do not allow; " +
                    from.get_name() + " and " + to.get_name() + " are in different zones");
  }
  from.get_englobing_zone()->add_bypass_route(from.get_netpoint(), to.get_netpoint(), nullptr, nullptr, links);
}

void take_out(HostRoutes& routes, const std::vector<s4u::Host*>& hosts, const std::vector<std::string>& dead_links) {
  std::vector<std::uint8_t> dead(routes.links.size());
  for (const auto& name : dead_links) {
    for (const auto link : links_named(routes.fabric, name, name_of(Setting::dead_link))) dead[link] = 1;
  }
  for (const auto& [from, to] : avoid_links(routes.fabric, dead)) {
    std::vector<s4u::LinkInRoute> links;
    for (const auto link : routes.fabric.route(from, to)) links.emplace_back(routes.links[link]);
    add_route(*hosts[from], *hosts[to], links);
  }
  for (LinkNumber link = 0; link < dead.size(); ++link) {
    if (dead[link] != 0) routes.links[link]->turn_off();
  }
}

}  // namespace

FabricRoutes routes_between(const std::vector<s4u::Host*>& hosts) { return HostRoutes(hosts).fabric; }

void disturb_links(const std::vector<s4u::Host*>& hosts, const SimulationSettings& settings) {
  if (settings.slow_links.empty() && settings.dead_links.empty()) return;
  HostRoutes routes(hosts);
  slow_down(routes, settings.slow_links);
  if (!settings.dead_links.empty()) take_out(routes, hosts, settings.dead_links);
}

}  // namespace eventloom
