#include "core/definitions/coincidence.hpp"

#include <algorithm>

#include "core/definitions/saturating.hpp"

namespace eventloom {

namespace {

WindowPlan parse_plan(std::string_view text, const DefinitionValues& values) {
  return parse_part(text, [&](auto) { return WindowPlan(values.condition(1), values.detector()); });
}

}  // namespace

Coincidence::Coincidence(const DefinitionValues& values)
    : window_(values.duration(0)), plan_(parse_plan(values.text(1), values)), widening_(values.widening(2)) {}

std::string Coincidence::text() const {
  return "coincidence:" + std::to_string(window_) + "," + plan_.condition().meaning() + widening_.text();
}

/// From the hits of an event to the window that links it to another, and to the end of that.
DefinitionTraits Coincidence::traits() const {
  const auto& condition = plan_.condition();
  return {.reach = saturating_sum({window_, window_, widening_.pre, widening_.post}),
          .longest_length = std::max({window_, widening_.pre, widening_.post}),
          .bin_ticks = std::max<Tick>(window_, 1),
          .needs_channels = true,
          .needs_groups = condition.uses(Quantity::Kind::group),
          .needs_positions = condition.uses(Quantity::Kind::causal)};
}

void Coincidence::find(const SortedHits& hits, EventList& events) const {
  const auto keys = hits.keys;
  if (plan_.min_hits() > keys.size()) return;
  const std::uint64_t others = plan_.min_hits() - 1;
  WindowCounts window(plan_, hits, events.scratch(keys.size()));
  WidenedEvents found(keys, widening_, events);
  for (std::uint32_t i = 0; i + others < keys.size();) {
    const std::uint32_t tick = tick_of(keys[i]);
    const std::uint64_t last = tick + window_;
    if (tick_of(keys[i + others]) > last) {  // as of most hits: nothing is counted then
      ++i;
      continue;
    }
    window.move(i, last);
    if (window.accepted() && !found.add(i, last)) return;
    do ++i;
    while (i < keys.size() && tick_of(keys[i]) == tick);
  }
  found.finish();
}

}  // namespace eventloom
