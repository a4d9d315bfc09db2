#include "app/run/run_account.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

namespace {

const MetricInfo* info_of_metric(std::string_view name) {
  const auto all = metrics_of(Account::source);
  const auto found = std::ranges::find(all, name, &MetricInfo::name);
  return found == all.end() ? nullptr : &*found;
}

std::uint64_t added(Adding adding, std::uint64_t a, std::uint64_t b) {
  if (adding == Adding::sum || adding == Adding::level) return a + b;
  return adding == Adding::max ? std::max(a, b) : std::min(a, b);
}

/// Whether a counter covers one invocation only. Counters of slices are already sums over all finished parts.
bool counted_by_invocation(Account account, Metric metric, bool all_live) {
  if (account == Account::exchange || account == Account::tap || account == Account::reply) return true;
  if (metric == Metric::late_transfers || metric == Metric::peak_rss_bytes) return true;
  return metric == Metric::hits_read && all_live;
}

std::vector<CounterRecord> counters_of_run(const RunResult& result, const RunStatistics& earlier) {
  std::vector<CounterRecord> records;
  for (const auto account :
       {Account::slices, Account::dropped, Account::exchange, Account::rank, Account::tap, Account::reply}) {
    for (const auto& metric : metrics_of(account)) {
      auto value = result.totals[metric.metric];
      const auto before = std::ranges::find(earlier.counters, metric.name, &CounterRecord::name);
      if (before != earlier.counters.end() && counted_by_invocation(account, metric.metric, result.all_live)) {
        value = added(metric.adding, value, before->value);
      }
      records.push_back({0, std::string(metric.name), std::string(metric.unit), value});
    }
  }
  return records;
}

/// Counts of the builders for `source` in parts finished earlier; the current totals already include them.
std::uint64_t found_by_builders(const RunTotals& totals, std::uint32_t source, const MetricInfo* metric) {
  if (metric == nullptr) return 0;
  if (metric->metric == Metric::events_lacking) {
    return source < totals.events_lacking.size() - 1 ? totals.events_lacking[source] : 0;
  }
  const auto left_out = totals.left_out.find(source);
  for (std::size_t i = 0; left_out != totals.left_out.end() && i < kOtherMarkers; ++i) {
    const auto marker = static_cast<OtherMarker>(i);
    if (metric->metric == source_left_out(marker)) return left_out->second[marker];
  }
  const auto losses = totals.source_losses.find(source);
  if (losses == totals.source_losses.end() || metric->metric < source_dropped_hits(DropCause{})) return 0;
  return losses->second.at(index_of(metric->metric) - index_of(source_dropped_hits(DropCause{})));
}

void add_earlier(CountsByName& counts, std::uint32_t source, const Resumption& earlier) {
  for (const auto& record : earlier.statistics.of_sources) {
    if (record.source != source) continue;
    const auto* metric = info_of_metric(record.name);
    const auto known = found_by_builders(earlier.totals, source, metric);
    const auto value = record.value - std::min(record.value, known);
    const auto [at, is_new] = counts.try_emplace(record.name, value);
    if (!is_new) at->second = added(metric == nullptr ? Adding::sum : metric->adding, at->second, value);
  }
}

std::vector<CounterRecord> counters_of_sources(const RunResult& result, const RunSetup& setup,
                                               const Resumption& earlier) {
  std::vector<CounterRecord> records;
  for (std::uint32_t s = 0; s < setup.sources.size(); ++s) {
    auto counts = counts_of(result, s).by_name();
    if (s < setup.streams.size() && setup.streams[s].live) add_earlier(counts, s, earlier);
    for (const auto& [name, n] : counts) {
      const auto* metric = info_of_metric(name);
      // A counter that is not a metric counts events by trigger type.
      records.push_back({s, name, metric == nullptr ? "events" : std::string(metric->unit), n});
    }
  }
  return records;
}

std::vector<LatencyRecord> latencies(LatencyHistogram latency, const std::vector<LatencyRecord>& earlier) {
  std::vector<LatencyHistogram::Bin> bins;
  for (const auto& record : earlier) bins.push_back({record.low_ns, record.high_ns, record.events});
  latency.add(LatencyHistogram::from_bins(bins));
  std::vector<LatencyRecord> records;
  for (const auto& bin : latency.bins()) records.push_back({bin.low, bin.high, bin.count});
  return records;
}

}  // namespace

void add_account(RunResult& result, const RunSetup& setup, const Resumption& earlier) {
  result.statistics.counters = counters_of_run(result, earlier.statistics);
  result.statistics.of_sources = counters_of_sources(result, setup, earlier);
  result.statistics.latency = latencies(result.latency, earlier.statistics.latency);
  result.statistics.clocks = result.clocks;
  auto& alarms = result.statistics.alarms;
  alarms.insert(alarms.begin(), earlier.statistics.alarms.begin(), earlier.statistics.alarms.end());
}

}  // namespace eventloom
