#include "core/dataflow/source_counts.hpp"

#include <functional>
#include <string>

namespace eventloom {

void TriggerCounts::add(const TriggerCounts& other) { std::ranges::transform(n_, other.n_, n_.begin(), std::plus{}); }

TriggerCounts TriggerCounts::since(const TriggerCounts& before) const {
  TriggerCounts counts;
  std::ranges::transform(n_, before.n_, counts.n_.begin(), std::minus{});
  return counts;
}

void TriggerCounts::add_to(CountsByName& counts) const {
  for (std::size_t type = 0; type < n_.size(); ++type) {
    if (n_[type] != 0) counts["trigger_" + (type == kTypes ? "other" : std::to_string(type))] = n_[type];
  }
}

void SourceCounts::add(const SourceCounts& other) {
  counters.add(other.counters);
  triggers.add(other.triggers);
}

SourceCounts SourceCounts::since(const SourceCounts& before) const {
  return {counters.since(before.counters), triggers.since(before.triggers)};
}

CountsByName SourceCounts::by_name() const {
  auto counts = counters.by_name();
  triggers.add_to(counts);
  return counts;
}

}  // namespace eventloom
