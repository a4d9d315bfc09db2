#include "io/hld/hld_counts.hpp"

namespace eventloom {

SourceCounts hld_counts() {
  return {{Metric::source_events, Metric::run_events, Metric::empty_events, Metric::events_with_error_bit,
           Metric::subevents, Metric::subevents_with_error_bit, Metric::padded_subevents},
          {}};
}

void count(const HldEvent& event, SourceCounts& counts) {
  auto& counters = counts.counters;
  if (event.begins_run() || event.ends_run()) {
    ++counters[Metric::run_events];
    return;
  }
  ++counters[Metric::source_events];
  counts.triggers.count(event.trigger());
  counters[Metric::empty_events] += event.subevents.empty() ? 1 : 0;
  counters[Metric::events_with_error_bit] += event.has_error() ? 1 : 0;
  counters[Metric::subevents] += event.subevents.size();
  for (const auto& subevent : event.subevents) {
    counters[Metric::subevents_with_error_bit] += subevent.has_error() ? 1 : 0;
    counters[Metric::padded_subevents] += subevent.size % 8 != 0 ? 1 : 0;
  }
}

}  // namespace eventloom
