#include "io/registry/clock_eras.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "io/recorded/era_plan.hpp"
#include "io/recorded/jump_reader.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/order_of_times.hpp"
#include "io/registry/registry.hpp"
#include "io/registry/source_turns.hpp"
#include "io/registry/time_scale.hpp"

namespace eventloom {

namespace {

bool begins_eras(const SourceSpec& spec) {
  return spec.uri.get("jumps", "") == "new-era" && spec.defect.empty() && !is_live(spec.uri) &&
         scheme_of(spec.uri).read != nullptr && !holds_event_numbers(spec.uri);
}

SourceEras eras_of(const SourceSpec& spec, const TimeBase& base, TimeOrder order) {
  order.quiet = true;
  JumpReader reader(scheme_of(spec.uri).read(placed_uri(spec), SourceId{}, base), order);
  HitBlock block;
  while (reader.read(block)) {
  }
  return {reader.name(), reader.eras()};
}

}  // namespace

void place_eras_of_clocks(std::vector<SourceSpec>& specs, const TimeBaseOptions& base) {
  std::map<std::string, std::vector<SourceSpec*>> clocks;
  for (auto& spec : specs) {
    if (begins_eras(spec)) clocks[clock_of(spec)].push_back(&spec);
  }
  const auto time_base = time_base_of(base, false);
  for (const auto& [clock, sources] : clocks) {
    if (sources.size() < 2) continue;
    std::vector<SourceEras> eras;
    Tick pause = 1;
    for (const auto* spec : sources) {
      const auto order = order_of_times(spec->uri, time_base.tick_ps);
      pause = std::max(pause, order.disorder);
      eras.push_back(eras_of(*spec, time_base, order));
    }
    const auto places = place_eras(eras, pause);
    for (auto* spec : sources) spec->eras = places;
  }
}

}  // namespace eventloom
