#include "io/hld/hld_counts.hpp"

#include <string>

namespace eventloom {

void HldCounts::add_to(SourceCounts& counts) const {
  counts["events"] = events;
  counts["run_events"] = run_events;
  counts["empty_events"] = empty_events;
  counts["events_with_error_bit"] = events_with_error_bit;
  counts["subevents"] = subevents;
  counts["subevents_with_error_bit"] = subevents_with_error_bit;
  counts["padded_subevents"] = padded_subevents;
  for (std::size_t type = 0; type < triggers.size(); ++type) {
    if (triggers[type] != 0) counts["trigger_" + std::to_string(type)] = triggers[type];
  }
}

}  // namespace eventloom
