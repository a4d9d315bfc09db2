#include "core/dataflow/run_totals.hpp"

#include <bit>
#include <numeric>

namespace eventloom {

void RunTotals::add(const BuiltSlice& slice) {
  slices += 1;
  events += slice.events.size();
  hits_written += slice.hits.size();
  hits_in += slice.ledger.hits_in;
  hits_in_events += slice.ledger.hits_in_events;
  hits_outside += slice.ledger.hits_outside;
  hits_rejected += slice.ledger.hits_rejected;
  for (std::size_t i = 0; i < kDropCauses; ++i) hits_dropped[i] += slice.ledger.hits_dropped[i];
  for (const auto flags : slice.events.flags) {
    events_truncated += (flags & kTruncated) != 0 ? 1 : 0;
    events_incomplete += (flags & kIncomplete) != 0 ? 1 : 0;
  }
  for (auto mask : slice.events.sources_missing) {
    for (; mask != 0; mask &= mask - 1) ++events_lacking[static_cast<std::size_t>(std::countr_zero(mask))];
  }
  for (const auto& loss : slice.losses) source_losses[loss.source][static_cast<std::size_t>(loss.cause)] += loss.n_hits;
  incomplete_slices += slice.sources_missing.empty() ? 0 : 1;
  unbalanced_slices += slice.ledger.balances() ? 0 : 1;
}

void RunTotals::add(const RunTotals& other) {
  slices += other.slices;
  events += other.events;
  hits_written += other.hits_written;
  hits_in += other.hits_in;
  hits_in_events += other.hits_in_events;
  hits_outside += other.hits_outside;
  hits_rejected += other.hits_rejected;
  for (std::size_t i = 0; i < kDropCauses; ++i) hits_dropped[i] += other.hits_dropped[i];
  events_truncated += other.events_truncated;
  events_incomplete += other.events_incomplete;
  for (std::size_t i = 0; i < events_lacking.size(); ++i) events_lacking[i] += other.events_lacking[i];
  for (const auto& [source, hits] : other.source_losses) {
    for (std::size_t i = 0; i < kDropCauses; ++i) source_losses[source][i] += hits[i];
  }
  incomplete_slices += other.incomplete_slices;
  anomalies += other.anomalies;
  unbalanced_slices += other.unbalanced_slices;
}

std::uint64_t RunTotals::dropped() const {
  return std::accumulate(hits_dropped.begin(), hits_dropped.end(), std::uint64_t{0});
}

}  // namespace eventloom
