#include "core/simulation/platform_questions.hpp"

#include "core/fabric/link_load.hpp"
#include "core/fabric/phases.hpp"
#include "core/simulation/host_routes.hpp"
#include "core/simulation/loaded_platform.hpp"

namespace eventloom {

PlatformPhases phases_for(const SimulationSettings& settings) {
  const LoadedPlatform platform(settings);
  const auto routes = routes_between(platform.hosts());
  const auto phases = search_phases(routes, settings.ranks_per_node, settings.seed);
  const auto step = [&](double latencies) {
    return (platform.slot_at(full_rate(routes), latencies) + phases.steps_per_transfer - 1) / phases.steps_per_transfer;
  };
  return {phases, step(0), step(2)};
}

void check_platform(const SimulationSettings& settings) { const LoadedPlatform platform(settings); }

}  // namespace eventloom
