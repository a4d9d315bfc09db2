#include "core/simulation/platform_questions.hpp"

#include "core/fabric/link_load.hpp"
#include "core/fabric/phases.hpp"
#include "core/simulation/host_routes.hpp"
#include "core/simulation/loaded_platform.hpp"

namespace eventloom {

PlatformPhases phases_for(const SimulationSettings& settings) {
  const LoadedPlatform platform(settings);
  const auto routes = routes_between(platform.hosts());
  PlatformPhases found{search_phases(routes, settings.ranks_per_node, settings.seed), 0};
  const auto transfer = platform.slot_at(full_rate(routes));
  found.step_ns = (transfer + found.phases.steps_per_transfer - 1) / found.phases.steps_per_transfer;
  return found;
}

void check_platform(const SimulationSettings& settings) { const LoadedPlatform platform(settings); }

}  // namespace eventloom
