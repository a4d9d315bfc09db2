#include "core/simulation/loaded_platform.hpp"

#include <algorithm>
#include <cmath>

#include "core/simulation/host_routes.hpp"
#include "core/simulation/platform.hpp"

namespace eventloom {

LoadedPlatform::LoadedPlatform(const SimulationSettings& settings)
    : settings_(settings), engine_(&n_arguments_, arguments_.data()), hosts_(load_platform(engine_, settings)) {
  disturb_links(hosts_, settings);
}

std::uint64_t LoadedPlatform::slot_at(double rate, double latencies) const {
  double latency = 0;
  for (const auto* host : hosts_) {
    if (host != hosts_.front()) latency = std::max(latency, route_between(*hosts_.front(), *host).latency);
  }
  const double bytes = static_cast<double>(settings_.message_bytes) * (1 + settings_.spread);
  return static_cast<std::uint64_t>(std::ceil((bytes / rate + latencies * latency) * 1e9));
}

}  // namespace eventloom
