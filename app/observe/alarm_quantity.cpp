#include "app/observe/alarm_quantity.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "core/monitor/telemetry_settings.hpp"

namespace eventloom {

namespace {

using MaybeValue = std::optional<double>;

/// A rank that has missed this many reports counts as idle, not merely late.
constexpr int kReportsMissed = 3;

bool has_ended(const RunSnapshot& snapshot) { return snapshot.exit_code.has_value(); }

/// Returns the time that the rank's last reports cover, or how long the rank has been silent if it has missed several
/// reports. std::nullopt until it has reported twice since the run started or resumed.
MaybeValue reported_seconds(const RunSnapshot& snapshot, std::size_t rank) {
  if (snapshot.condition.state != "running" || rank >= snapshot.before.ranks().size()) return std::nullopt;
  if (snapshot.before.heard(static_cast<int>(rank)) <= snapshot.paused) return std::nullopt;
  if (const double seconds = snapshot.seconds_reported(rank); seconds > 0) return seconds;
  const auto interval = telemetry_interval(std::chrono::seconds(1), snapshot.now.ranks().size());
  const double silent = snapshot.silent_s[rank];
  return std::chrono::duration<double>(silent) < kReportsMissed * interval ? std::nullopt : MaybeValue(silent);
}

double per_second(std::uint64_t now, std::uint64_t before, double seconds) {
  return static_cast<double>(now - std::min(now, before)) / seconds;
}

bool source_works(const RankRecord& record) {
  return std::ranges::any_of(record.sources,
                             [](const auto& source) { return source.second.state != SourceState::ended; });
}

AlarmQuantity::Value rate_of(Metric metric) {
  return [metric](const RunSnapshot& snapshot) -> MaybeValue {
    const auto& ranks = snapshot.now.ranks();
    if (std::ranges::none_of(ranks, source_works)) return std::nullopt;
    double rate = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const auto seconds = reported_seconds(snapshot, r);
      if (!seconds) return std::nullopt;
      rate += per_second(ranks[r].counters[metric], snapshot.before.ranks()[r].counters[metric], *seconds);
    }
    return rate;
  };
}

/// Returns the rank that reads the source; std::nullopt until it has reported.
std::optional<std::size_t> rank_of(const RunSnapshot& snapshot, std::uint32_t source) {
  const auto& ranks = snapshot.now.ranks();
  const auto found = std::ranges::find_if(ranks, [&](const auto& rank) { return rank.sources.contains(source); });
  if (found == ranks.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ranks.begin());
}

AlarmQuantity::Value rate_of_source(std::uint32_t source) {
  return [source](const RunSnapshot& snapshot) -> MaybeValue {
    const auto rank = rank_of(snapshot, source);
    if (!rank) return std::nullopt;
    const auto& now = snapshot.now.ranks()[*rank].sources.at(source);
    const auto seconds = reported_seconds(snapshot, *rank);
    if (!seconds || now.state == SourceState::ended) return std::nullopt;
    const auto& rows = snapshot.before.ranks()[*rank].sources;
    const auto before = rows.find(source);
    return per_second(now.hits, before == rows.end() ? 0 : before->second.hits, *seconds);
  };
}

/// Returns the value of these counters; a counter is 0 if the source has not reported it.
template <class Read>
AlarmQuantity::Value of_source(std::uint32_t source, Read read) {
  return [source, read](const RunSnapshot& snapshot) -> MaybeValue {
    if (!rank_of(snapshot, source)) return std::nullopt;
    const auto all = snapshot.now.of_sources();
    const auto found = all.find(source);
    return static_cast<double>(read(found == all.end() ? Counters{} : found->second));
  };
}

template <class Read>
AlarmQuantity::Value of_all_sources(Read read) {
  return [read](const RunSnapshot& snapshot) -> MaybeValue {
    Counters sum;
    for (const auto& [source, counters] : snapshot.now.of_sources()) sum.add(counters);
    return static_cast<double>(read(sum));
  };
}

MaybeValue lost(const RunSnapshot& snapshot) { return static_cast<double>(hits_lost(snapshot.totals)); }

/// Memory of the largest rank.
MaybeValue memory(const RunSnapshot& snapshot) {
  std::uint64_t bytes = 0;
  for (const auto& rank : snapshot.now.ranks()) bytes = std::max(bytes, rank.head.resident_bytes);
  return static_cast<double>(bytes);
}

MaybeValue stalled(const RunSnapshot& snapshot) {
  return has_ended(snapshot) ? MaybeValue() : MaybeValue(snapshot.stalled_s);
}

/// Also at the end of the run: it may have filled the disk.
MaybeValue disk_free(const RunSnapshot& snapshot) { return snapshot.disk.free_bytes; }

MaybeValue disk_left(const RunSnapshot& snapshot) { return has_ended(snapshot) ? MaybeValue() : snapshot.disk.left_s; }

MaybeValue ring_fill(const RunSnapshot& snapshot) {
  return has_ended(snapshot) ? MaybeValue() : MaybeValue(snapshot.figures.ring_fill);
}

double clock_difference_s(const Counters& counters) {
  return static_cast<double>(counters[Metric::clock_difference_ns]) * 1e-9;
}

/// The quantities that are not counters.
auto special_quantities() {
  const auto lost_of = [](std::uint32_t source) { return of_source(source, hits_lost_of_source); };
  return std::array{
      std::pair{"lost", AlarmQuantity{"hits", lost, lost_of}},
      std::pair{"rate", AlarmQuantity{"hits/s", rate_of(Metric::hits_in), rate_of_source}},
      std::pair{"stalled", AlarmQuantity{"s", stalled, {}}},
      std::pair{"event_rate", AlarmQuantity{"events/s", rate_of(Metric::events), {}}},
      std::pair{"byte_rate", AlarmQuantity{"bytes/s", rate_of(Metric::message_bytes), {}}},
      std::pair{"slice_rate", AlarmQuantity{"slices/s", rate_of(Metric::slices), {}}},
      std::pair{"ring_fill", AlarmQuantity{"1", ring_fill, {}}},
      std::pair{"memory", AlarmQuantity{"bytes", memory, {}}},
      std::pair{"disk_free", AlarmQuantity{"bytes", disk_free, {}}},
      std::pair{"disk_left", AlarmQuantity{"s", disk_left, {}}},
      std::pair{"clock_difference",
                AlarmQuantity{"s", of_all_sources(clock_difference_s),
                              [](std::uint32_t source) { return of_source(source, clock_difference_s); }}},
  };
}

std::optional<AlarmQuantity> special(std::string_view name) {
  const auto all = special_quantities();
  const auto found = std::ranges::find(all, name, [](const auto& one) { return std::string_view(one.first); });
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

/// A name may denote both a counter of the run and a counter of each source.
void add_counter(const MetricInfo& metric, AlarmQuantity& quantity) {
  const auto counter = metric.metric;
  quantity.unit = metric.unit;
  if (account_of(counter) != Account::source) {
    quantity.of_run = [counter](const RunSnapshot& s) -> MaybeValue { return static_cast<double>(s.totals[counter]); };
    return;
  }
  const auto read = [counter](const Counters& counters) { return counters[counter]; };
  quantity.of_source = [read](std::uint32_t source) { return of_source(source, read); };
  if (!quantity.of_run) quantity.of_run = of_all_sources(read);
}

}  // namespace

std::vector<std::string_view> alarm_quantity_names() {
  std::vector<std::string_view> names;
  for (const auto& [name, quantity] : special_quantities()) names.emplace_back(name);
  for (const auto& metric : all_metrics()) names.push_back(metric.name);
  return names;
}

std::optional<AlarmQuantity> find_alarm_quantity(std::string_view name) {
  if (auto found = special(name)) return found;
  std::optional<AlarmQuantity> quantity;
  for (const auto& metric : all_metrics()) {
    if (metric.name != name) continue;
    if (!quantity) quantity.emplace();
    add_counter(metric, *quantity);
  }
  return quantity;
}

}  // namespace eventloom
