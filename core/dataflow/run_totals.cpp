#include "core/dataflow/run_totals.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace eventloom {

void RunTotals::add(const BuiltSlice& slice) {
  add(slice.ledger, !slice.sources_missing.empty());
  counters[Metric::events] += slice.events.size();
  counters[Metric::events_rejected] += slice.events_rejected;
  counters[Metric::hits_written] += slice.hits.size();
  add_rejected(slice.rejected_by);
  const auto& flags = slice.events.flags;
  const auto& missing = slice.events.sources_missing;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    if (flags[i] != 0 || missing[i] != 0) add_event(flags[i], missing[i]);  // rare
  }
  for (const auto& of : slice.left_out) add_left_out(of.source, of.counts);
  for (const auto& loss : slice.losses) source_losses[loss.source][static_cast<std::size_t>(loss.cause)] += loss.n_hits;
  for (const auto& live : slice.live_hits) live_hits[live.source] += live.n_hits;
}

void RunTotals::add(const LedgerRow& row, bool incomplete) {
  ++counters[Metric::slices];
  counters[Metric::hits_in] += row.hits_in;
  counters[Metric::hits_in_events] += row.hits_in_events;
  counters[Metric::hits_outside] += row.hits_outside;
  counters[Metric::hits_rejected] += row.hits_rejected;
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    counters[dropped_hits(static_cast<DropCause>(i))] += row.hits_dropped[i];
  }
  counters[Metric::incomplete_slices] += incomplete ? 1 : 0;
  counters[Metric::unbalanced_slices] += row.balances() ? 0 : 1;
}

void RunTotals::add_event(std::uint32_t flags, std::uint64_t sources_missing) {
  counters[Metric::events_truncated] += (flags & kTruncated) != 0 ? 1 : 0;
  counters[Metric::events_incomplete] += (flags & kIncomplete) != 0 ? 1 : 0;
  counters[Metric::events_tag_error] += (flags & kTagError) != 0 ? 1 : 0;
  for (; sources_missing != 0; sources_missing &= sources_missing - 1) {
    ++events_lacking[static_cast<std::size_t>(std::countr_zero(sources_missing))];
  }
}

void RunTotals::add_left_out(std::uint32_t source, const MarkerCounts& counts) {
  left_out[source].add(counts);
  add_other_markers(counters, counts);
}

void RunTotals::add_rejected(std::span<const std::uint64_t> by_expression) {
  rejected_by.resize(std::max(rejected_by.size(), by_expression.size()));
  for (std::size_t i = 0; i < by_expression.size(); ++i) rejected_by[i] += by_expression[i];
}

void RunTotals::add(const RunTotals& other) {
  counters.add(other.counters);
  add_rejected(other.rejected_by);
  for (std::size_t i = 0; i < events_lacking.size(); ++i) events_lacking[i] += other.events_lacking[i];
  for (const auto& [source, counts] : other.left_out) left_out[source].add(counts);
  for (const auto& [source, hits] : other.source_losses) {
    for (std::size_t i = 0; i < kDropCauses; ++i) source_losses[source][i] += hits[i];
  }
  for (const auto& [source, hits] : other.live_hits) live_hits[source] += hits;
}

std::uint64_t RunTotals::dropped() const {
  std::uint64_t hits = 0;
  for (const auto& cause : metrics_of(Account::dropped)) hits += counters[cause.metric];
  return hits;
}

}  // namespace eventloom
