#include "app/view/report/statistics_document.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "app/document/alarm_json.hpp"
#include "app/document/latency_histogram.hpp"
#include "app/document/status_parts.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/metrics.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kLatencyBins = 60;

/// Counters of slices are already in the list, as sums over ledger and events.
void add_counters(Json& list, const std::vector<CounterRecord>& counters) {
  for (const auto account : {Account::exchange, Account::rank, Account::tap, Account::reply}) {
    for (const auto& metric : metrics_of(account)) {
      const auto found = std::ranges::find(counters, metric.name, &CounterRecord::name);
      if (found != counters.end()) list.push_back(Json(counter_json(metric, found->value)));
    }
  }
}

std::optional<Metric> metric_of_source(const std::string& name) {
  const auto all = metrics_of(Account::source);
  const auto found = std::ranges::find(all, name, &MetricInfo::name);
  return found == all.end() ? std::nullopt : std::optional(found->metric);
}

void add_counters_of_sources(Json& sources, const std::vector<CounterRecord>& counters) {
  std::map<std::uint32_t, Counters> reported;
  for (const auto& counter : counters) {
    if (counter.source >= sources.size()) {
      throw UserError("/source_counters names a source " + std::to_string(counter.source) + ", which the run lacks");
    }
    auto& source = sources[counter.source];
    source["counters"][counter.name] = counter.value;
    if (const auto metric = metric_of_source(counter.name)) reported[counter.source][*metric] = counter.value;
    if (counter.name == info(Metric::dead_time_ns).name) {
      source["dead_time_s"] = static_cast<double>(counter.value) / 1e9;
    }
  }
  for (const auto& [source, counted] : reported) sources[source]["lost"] = hits_lost_of_source(counted);
}

/// Edges at equal ratios. The entries are already in bins of 1 %; each is assigned by its centre.
Json latency_histogram(const LatencyHistogram& latency, const std::vector<LatencyHistogram::Bin>& bins) {
  const double low = std::max(latency.min(), 1.0) * 0.995;
  const double ratio = std::max(latency.max(), low * 1.01) * 1.005 / low;
  const auto n = std::clamp<std::size_t>(static_cast<std::size_t>(std::log(ratio) / 0.02), 1, kLatencyBins);
  const auto share = [&](double ns) { return std::log(std::max(ns, low) / low) / std::log(ratio); };
  std::vector<double> edges;
  for (std::size_t i = 0; i <= n; ++i) {
    edges.push_back(low * std::pow(ratio, static_cast<double>(i) / static_cast<double>(n)));
  }
  std::vector<std::uint64_t> counts(n);
  for (const auto& bin : bins) {
    const auto place = static_cast<std::size_t>(share((bin.low + bin.high) / 2) * static_cast<double>(n));
    counts[std::min(place, n - 1)] += bin.count;
  }
  return {{"edges", edges}, {"counts", counts}, {"log_x", true}, {"log_y", true}};
}

LatencyHistogram latency_of(const std::vector<LatencyRecord>& records) {
  std::vector<LatencyHistogram::Bin> bins;
  for (const auto& record : records) {
    if (!(record.low_ns <= record.high_ns)) throw UserError("/latency has a bin that ends before it begins");
    bins.push_back({record.low_ns, record.high_ns, record.events});
  }
  return LatencyHistogram::from_bins(bins);
}

Json latency_json(const std::vector<LatencyRecord>& records) {
  const auto latency = latency_of(records);
  auto json = latency_histogram(latency, latency.bins());
  json["title"] = "Latency";
  json["x"] = "from the first hit until the event is built";
  json["unit"] = "ns";
  json["entries"] = latency.count();
  json["mean"] = latency.mean();
  json["least"] = latency.min();
  json["greatest"] = latency.max();
  json["percentiles"] = {{"percent", {50, 90, 99, 99.9}}, {"ns", Json::array()}};
  for (const double p : json["percentiles"]["percent"]) json["percentiles"]["ns"].push_back(latency.percentile(p));
  return json;
}

Json clocks_json(const std::vector<ClockQuality>& clocks) {
  Json list = Json::array();
  for (std::size_t rank = 0; rank < clocks.size(); ++rank) {
    const auto& clock = clocks[rank];
    list.push_back({{"rank", rank},
                    {"offset_ns", clock.offset_ns},
                    {"rate_ppm", clock.rate_ppm},
                    {"residual_ns", clock.residual_ns},
                    {"precision_ns", clock.precision_ns},
                    {"round_trips", clock.round_trips}});
  }
  return list;
}

/// Adds arrays parallel to the balance's builder numbers, with null for what was not measured, and the fraction of the
/// total time during which builders were busy.
void add_time_of_builders(Json& balance, const std::vector<BuilderRecord>& records) {
  double busy = 0;
  double all = 0;
  for (const auto& record : records) {
    busy += static_cast<double>(record.busy_ns);
    all += static_cast<double>(record.busy_ns) + static_cast<double>(record.idle_ns);
  }
  if (all > 0) balance["busy"] = busy / all;
  balance["busy_s"] = Json::array();
  balance["idle_s"] = Json::array();
  for (const std::uint32_t number : balance["builders"]) {
    const auto found = std::ranges::find(records, number, &BuilderRecord::builder);
    const bool known = found != records.end();
    balance["busy_s"].push_back(known ? Json(static_cast<double>(found->busy_ns) / 1e9) : Json());
    balance["idle_s"].push_back(known ? Json(static_cast<double>(found->idle_ns) / 1e9) : Json());
  }
}

Json rates_json(const std::vector<RateRecord>& records) {
  Json json = {{"axis", "time since the first slice [s]"}, {"per", "s"}};
  const auto add = [&](const char* name, double RateRecord::*member) {
    auto& list = json[name] = Json::array();
    // NaN becomes null.
    for (const auto& record : records) list.push_back(record.*member);
  };
  add("t_s", &RateRecord::time_s);
  add("hits_per_s", &RateRecord::hits_per_s);
  add("bytes_per_s", &RateRecord::bytes_per_s);
  add("events_per_s", &RateRecord::events_per_s);
  add("latency_p50_ns", &RateRecord::latency_p50_ns);
  add("latency_p99_ns", &RateRecord::latency_p99_ns);
  return json;
}

/// Alarms that were active when the run ended remain active.
Json alarms_json(const std::vector<AlarmRecord>& alarms) {
  Json list = Json::array();
  for (const auto& alarm : alarms) {
    list.push_back(Json(to_json(alarm)));
    list.back()["active"] = alarm.over.empty();
  }
  return list;
}

}  // namespace

void add_statistics(Json& status, const RunStatistics& statistics) {
  add_counters(status["counters"], statistics.counters);
  add_counters_of_sources(status["sources"], statistics.of_sources);
  if (!statistics.latency.empty()) status["histograms"]["latency"] = latency_json(statistics.latency);
  if (!statistics.clocks.empty()) status["clocks"] = clocks_json(statistics.clocks);
  if (!statistics.builders.empty()) add_time_of_builders(status["balance"], statistics.builders);
  if (!statistics.alarms.empty()) status["alarms"] = alarms_json(statistics.alarms);
  if (!statistics.rates.empty()) status["run_series"] = rates_json(statistics.rates);
}

}  // namespace eventloom
