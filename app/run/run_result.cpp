#include "app/run/run_result.hpp"

#include <cstddef>

#include "core/runtime/metrics.hpp"

namespace eventloom {

SourceCounts counts_of(const RunResult& result, std::uint32_t source) {
  const auto found = result.sources.find(source);
  auto counts = found == result.sources.end() ? SourceCounts{} : found->second;
  const auto losses = result.totals.source_losses.find(source);
  for (std::size_t i = 0; losses != result.totals.source_losses.end() && i < kDropCauses; ++i) {
    counts.counters[source_dropped_hits(static_cast<DropCause>(i))] += losses->second[i];
  }
  const auto left_out = result.totals.left_out.find(source);
  if (left_out != result.totals.left_out.end()) add_other_markers_of_source(counts.counters, left_out->second);
  const auto& lacking = result.totals.events_lacking;
  if (source + 1 < lacking.size()) counts.counters.keep({{Metric::events_lacking, lacking[source]}});
  return counts;
}

}  // namespace eventloom
