#include "app/observe/status_document.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string_view>

#include "app/document/clock_json.hpp"
#include "app/document/detector_json.hpp"
#include "app/document/detector_names.hpp"
#include "app/observe/rank_remarks.hpp"
#include "app/observe/snapshot_rates.hpp"
#include "app/observe/utc_text.hpp"

namespace eventloom {

namespace {

using Json = Json;

template <class T>
Json number_or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

double seconds_since(RunPicture::Time then) {
  return std::chrono::duration<double>(RunPicture::Time::clock::now() - then).count();
}

Json run_json(const RunDescription& run, const RunSnapshot& snapshot) {
  Json json{{"name", run.name}, {"command_line", run.command_line}, {"began", text_or_null(run.began)}};
  if (run.number) json["number"] = *run.number;
  if (!run.comment.empty()) json["comment"] = run.comment;
  json["now"] = utc_text(std::chrono::system_clock::now());
  json["elapsed_s"] = snapshot.elapsed_s;
  if (snapshot.taken != RunPicture::Time{}) json["age_s"] = seconds_since(snapshot.taken);
  json["share_done"] = number_or_null(snapshot.figures.share);
  json["remaining_s"] = number_or_null(snapshot.figures.remaining_s);
  if (snapshot.exit_code) json["exit_code"] = *snapshot.exit_code;
  return json;
}

Json setup_json(const RunDescription& run, const RunSnapshot& snapshot) {
  std::vector<std::string> hosts;
  for (const auto& rank : run.ranks) {
    if (std::ranges::find(hosts, rank.host) == hosts.end()) hosts.push_back(rank.host);
  }
  Json setup{{"definition", run.definition},
             {"filters", run.filters},
             {"schedule", run.schedule},
             {"speed", snapshot.condition.speed},
             {"all_live", run.all_live},
             {"tick_ps", run.has_clock() ? Json(run.tick_ps) : Json(nullptr)},
             {"epoch_ticks", run.has_clock() ? Json(run.epoch_ticks) : Json(nullptr)},
             {"epochs_per_slice", run.has_clock() ? Json(run.epochs_per_slice) : Json(nullptr)},
             {"ranks", run.ranks.size()},
             {"hosts", hosts},
             {"versions", {{"eventloom", run.eventloom_version}, {"mpi", run.mpi_version}, {"ucx", run.ucx_version}}},
             {"configuration", run.configuration}};
  if (run.detector) setup["detector"] = *run.detector;
  return setup;
}

Json counters_json(const Counters& totals) {
  Json list = Json::array();
  for (const auto& metric : all_metrics()) {
    if (account_of(metric.metric) == Account::source) continue;
    list.push_back(counter_json(metric, totals[metric.metric]));
  }
  return list;
}

Json rates_json(const RunFigures& figures) {
  return {{"hits_per_s", figures.hits_per_s},
          {"bytes_per_s", figures.bytes_per_s},
          {"events_per_s", figures.events_per_s},
          {"slices_per_s", figures.slices_per_s}};
}

Json source_json(const RunDescription& run, const RunSnapshot& snapshot, std::size_t rank, const SourceRow& row,
                 const Counters& counters) {
  constexpr std::array<const char*, kSourceStates> kNames = {"recorded", "live", "silent", "given up", "full", "ended"};
  const auto before = row_before(snapshot, &RankRecord::sources, rank, row.source);
  const auto name = row.source < run.sources.size() ? run.sources[row.source] : std::string();
  Json json{{"index", row.source},
            {"name", name},
            {"rank", rank},
            {"state", kNames[static_cast<std::size_t>(row.state)]},
            {"hits", row.hits},
            {"hits_per_s", rate(snapshot, rank, row.hits, before.hits)},
            {"bytes", row.bytes},
            {"bytes_per_s", rate(snapshot, rank, row.bytes, before.bytes)},
            {"lost", hits_lost_of_source(counters)},
            {"dead_time_s", static_cast<double>(counters[Metric::dead_time_ns]) / 1e9},
            {"counters", counters.by_name()}};
  if (auto label = source_label(run.known, row.source); !label.empty()) json["label"] = std::move(label);
  return json;
}

Json builder_json(const RunSnapshot& snapshot, std::size_t rank, const BuilderRow& row) {
  const auto before = row_before(snapshot, &RankRecord::builders, rank, row.builder);
  return {{"index", row.builder},
          {"rank", rank},
          {"slices", row.slices},
          {"slices_per_s", rate(snapshot, rank, row.slices, before.slices)},
          {"events", row.events},
          {"hits", row.hits},
          {"hits_per_s", rate(snapshot, rank, row.hits, before.hits)},
          {"busy", busy_share(snapshot, rank, row)}};
}

Json filter_json(const RunSnapshot& snapshot, std::size_t rank, const WriterRow& row) {
  const auto before = row_before(snapshot, &RankRecord::writers, rank, row.writer);
  return {{"index", row.writer},
          {"rank", rank},
          {"accepted", row.events},
          {"accepted_per_s", rate(snapshot, rank, row.events, before.events)},
          {"rejected", row.events_rejected},
          {"rejected_per_s", rate(snapshot, rank, row.events_rejected, before.events_rejected)},
          {"hits_rejected", row.hits_rejected}};
}

/// The row of a source that has not reported yet.
Json waiting_source_json(const RunDescription& run, const RunSnapshot& snapshot, std::uint32_t number) {
  const SourceId id{static_cast<decltype(SourceId{}.value)>(number)};
  auto json = source_json(run, snapshot, static_cast<std::size_t>(run.roles.rank_of(id)), {.source = number}, {});
  json["state"] = "waiting";
  return json;
}

/// Adds rows for those of `n` items that no rank has reported yet.
template <class Make>
void add_unreported(Json& list, std::uint32_t n, Make make) {
  std::vector<bool> reported(n);
  for (const auto& row : list) {
    if (const auto number = row["index"].get<std::uint32_t>(); number < n) reported[number] = true;
  }
  for (std::uint32_t number = 0; number < n; ++number) {
    if (!reported[number]) list.push_back(make(number));
  }
}

void sort_by_index(Json& list) {
  const auto index = [](const Json& row) { return row["index"].get<std::uint32_t>(); };
  std::ranges::sort(list.elements(), {}, index);
}

void add_roles(Json& json, const RunDescription& run, const RunSnapshot& snapshot) {
  Json sources = Json::array();
  Json builders = Json::array();
  Json filters = Json::array();
  const auto counters = snapshot.now.of_sources();
  const auto& ranks = snapshot.now.ranks();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const auto& [number, row] : ranks[r].sources) {
      const auto counted = counters.find(number);
      sources.push_back(source_json(run, snapshot, r, row, counted == counters.end() ? Counters{} : counted->second));
    }
    for (const auto& [number, row] : ranks[r].builders) builders.push_back(builder_json(snapshot, r, row));
    if (run.roles.filters == 0) continue;
    for (const auto& [number, row] : ranks[r].writers) filters.push_back(filter_json(snapshot, r, row));
  }
  const auto rank_of = [&](auto id) { return static_cast<std::size_t>(run.roles.rank_of(id)); };
  add_unreported(sources, run.roles.sources, [&](auto s) { return waiting_source_json(run, snapshot, s); });
  add_unreported(builders, run.roles.builders,
                 [&](auto b) { return builder_json(snapshot, rank_of(BuilderId{b}), {b}); });
  add_unreported(filters, run.roles.filters, [&](auto f) { return filter_json(snapshot, rank_of(FilterId{f}), {f}); });
  for (auto* list : {&sources, &builders, &filters}) sort_by_index(*list);
  json["sources"] = sources;
  json["builders"] = builders;
  json["filters"] = filters;
}

/// One row per rank with sources.
Json links_json(const RunDescription& run, const RunSnapshot& snapshot) {
  Json rates = Json::array();
  Json fill = Json::array();
  Json names = Json::array();
  Json columns = Json::array();
  for (std::uint32_t b = 0; b < run.roles.builders; ++b) columns.push_back("builder " + std::to_string(b));
  const auto& ranks = snapshot.now.ranks();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].links.empty()) continue;
    std::vector<double> row_rates(run.roles.builders);
    std::vector<double> row_fill(run.roles.builders);
    for (const auto& [b, link] : ranks[r].links) {
      if (b >= run.roles.builders) continue;
      row_rates[b] = rate(snapshot, r, link.bytes, row_before(snapshot, &RankRecord::links, r, b).bytes);
      row_fill[b] = link.depth == 0 ? 0 : static_cast<double>(link.cells) / link.depth;
    }
    rates.push_back(row_rates);
    fill.push_back(row_fill);
    names.push_back("rank " + std::to_string(r) + (r < run.ranks.size() ? " (" + run.ranks[r].roles + ")" : ""));
  }
  return {{"rate_bytes_per_s", rates}, {"fill", fill}, {"rows", names}, {"columns", columns}};
}

Json ranks_json(const RunDescription& run, const RunSnapshot& snapshot) {
  Json list = Json::array();
  const auto remarks = rank_remarks(run, snapshot);
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    Json rank{{"rank", r}, {"host", run.ranks[r].host}, {"roles", run.ranks[r].roles}, {"remark", remarks[r]}};
    if (r < snapshot.silent_s.size()) {
      rank["silent_s"] = snapshot.silent_s[r];
      rank["rss_bytes"] = snapshot.now.ranks()[r].head.resident_bytes;
    }
    list.push_back(std::move(rank));
  }
  return list;
}

Json clocks_json(const RunSnapshot& snapshot) {
  Json list = Json::array();
  const auto clocks = to_json(snapshot.clocks);
  for (std::size_t r = 0; r < clocks.size(); ++r) {
    Json clock{{"rank", r}};
    for (const auto& [name, value] : clocks[r].items()) clock[name] = Json(value);
    list.push_back(std::move(clock));
  }
  return list;
}

/// Covers the events written by this invocation, as the part "channels" does.
Json hits_by_group(const RunDescription& run, const ChannelCounts& counts) {
  GroupCounts groups(run.known);
  std::uint64_t unknown = 0;
  for (const auto& row : counts.rows()) {
    if (row.channel == ChannelRow::kOthers) {
      unknown += row.hits;
    } else {
      groups.add(row.source, row.channel, row.hits);
    }
  }
  return groups_json(run.known, groups.hits(), unknown);
}

Json series_json(const RunSeries& series) {
  Json json{{"axis", "time since start [s]"}};
  for (const char* name : {"t_s", "hits_per_s", "bytes_per_s", "events_per_s", "latency_p50_ns", "latency_p99_ns"}) {
    json[name] = Json::array();
  }
  for (const auto& [elapsed_s, figures] : series.moments) {
    json["t_s"].push_back(elapsed_s);
    json["hits_per_s"].push_back(figures.hits_per_s);
    json["bytes_per_s"].push_back(figures.bytes_per_s);
    json["events_per_s"].push_back(figures.events_per_s);
    json["latency_p50_ns"].push_back(number_or_null(figures.latency_p50_ns));
    json["latency_p99_ns"].push_back(number_or_null(figures.latency_p99_ns));
  }
  return json;
}

/// Each integer lies in the middle of its bin; on a logarithmic axis, 0 is drawn below 1.
double edge(std::size_t bin, double unit, bool log) {
  return unit * (log && bin == 0 ? 0.25 : static_cast<double>(LogHistogram::begin_of(bin)) - 0.5);
}

struct HistogramText {
  HistogramKind kind;
  const char* name;
  const char* title;
  const char* x;
  const char* unit;
};
constexpr std::array kHistogramTexts = {
    HistogramText{HistogramKind::multiplicity, "multiplicity", "Multiplicity", "hits in an event", ""},
    HistogramText{HistogramKind::duration, "duration", "Duration", "duration", "ns"},
    HistogramText{HistogramKind::interval, "interval", "Time between events", "from first hit to first hit", "ns"},
    HistogramText{HistogramKind::latency, "latency", "Latency", "from the first hit until the event is written", "ns"},
};

Json histogram_json(const HistogramText& text, const LogHistogram& counts, double unit) {
  std::size_t begin = 0;
  std::size_t end = LogHistogram::kBins;
  while (counts[begin] == 0) ++begin;
  while (counts[end - 1] == 0) --end;
  const bool log = end > LogHistogram::kWhole;
  Json edges = Json::array();
  Json values = Json::array();
  for (auto bin = begin; bin < end; ++bin) {
    edges.push_back(edge(bin, unit, log));
    values.push_back(counts[bin]);
  }
  edges.push_back(edge(end, unit, log));
  return {{"title", text.title}, {"x", text.x},  {"unit", text.unit}, {"edges", edges},
          {"counts", values},    {"log_x", log}, {"log_y", true}};
}

/// Returns the fraction of this invocation's events that histograms and channels include.
double share_counted(const RunSnapshot& snapshot) {
  std::uint64_t written = 0;
  for (const auto& rank : snapshot.now.ranks()) {
    for (const auto& [number, writer] : rank.writers) written += writer.events;
  }
  const auto counted = snapshot.now.histogram(HistogramKind::multiplicity).count();
  return counted >= written ? 1 : static_cast<double>(counted) / static_cast<double>(written);
}

Json histograms_json(const RunDescription& run, const RunSnapshot& snapshot) {
  Json json = Json::object();
  const double tick_ns = static_cast<double>(run.tick_ps) / 1000;
  for (const auto& text : kHistogramTexts) {
    const auto counts = snapshot.now.histogram(text.kind);
    const bool in_ticks = text.kind == HistogramKind::duration || text.kind == HistogramKind::interval;
    if (counts.count() != 0) json[text.name] = histogram_json(text, counts, in_ticks ? tick_ns : 1);
  }
  if (json.contains("interval")) json["interval"]["across_slices"] = run.roles.writers() == 1;
  return json;
}

bool balances(const Counters& totals) {
  std::uint64_t accounted =
      totals[Metric::hits_in_events] + totals[Metric::hits_outside] + totals[Metric::hits_rejected];
  for (std::size_t i = 0; i < kDropCauses; ++i) accounted += totals[dropped_hits(static_cast<DropCause>(i))];
  return totals[Metric::hits_in] == accounted && totals[Metric::unbalanced_slices] == 0;
}

Json alarms_json(const std::vector<AlarmState>& alarms) {
  Json list = Json::array();
  for (const auto& alarm : alarms) {
    list.push_back({{"condition", alarm.condition},
                    {"active", alarm.active},
                    {"raised", alarm.raised.empty() ? Json(nullptr) : Json(alarm.raised)},
                    {"value", number_or_null(alarm.value)}});
  }
  return list;
}

std::optional<double> value_of(const RunDescription& run, const EventHitRow& hit) {
  if (!run.values || hit.payload_words == 0) return std::nullopt;
  const std::span payload(hit.payload.data(), std::min<std::size_t>(hit.payload_words, hit.payload.size()));
  const double value = (*run.values)(hit.source, hit.channel, payload);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Returns the first payload word; std::nullopt if it is not a number by itself.
std::optional<std::uint32_t> word_of(const RunDescription& run, const EventHitRow& hit) {
  const bool real = hit.source < run.payload_kinds.size() && run.payload_kinds[hit.source] != PayloadKind::u32;
  return hit.payload_words == 0 || real ? std::nullopt : std::optional(hit.payload[0]);
}

Json event_json(const RunDescription& run, const LatestEvent& latest) {
  const auto& event = latest.event;
  ShownEvent shown{Tick(event.time), Tick(event.duration), event.n_hits,          event.slice,
                   event.flags,      event.payload != 0,   run.values != nullptr, {}};
  for (const auto& hit : latest.hits) {
    shown.hits.push_back({Tick(hit.since_first), hit.source, hit.channel, word_of(run, hit), value_of(run, hit)});
  }
  shown.with_payload = has_words(shown);
  return to_json(shown, static_cast<double>(run.tick_ps) / 1000, run.known);
}

Json log_json(const std::vector<LogLine>& log) {
  Json list = Json::array();
  for (const auto& line : log) list.push_back({{"time", line.time}, {"severity", line.severity}, {"text", line.text}});
  return list;
}

}  // namespace

Json to_json(const CommandRecord& command) {
  return {{"time", command.time}, {"from", command.from}, {"command", command.command}, {"result", command.result}};
}

Json status_document(const RunDescription& run, const RunSnapshot& snapshot, const std::vector<CommandRecord>& commands,
                     const std::vector<LogLine>& log) {
  Json json{
      {"schema", 1}, {"kind", "monitor"}, {"state", snapshot.condition.state}, {"message", snapshot.condition.message}};
  json["run"] = run_json(run, snapshot);
  json["setup"] = setup_json(run, snapshot);
  json["counters"] = counters_json(snapshot.totals);
  json["rates"] = rates_json(snapshot.figures);
  json["ring_fill"] = snapshot.figures.ring_fill;
  add_roles(json, run, snapshot);
  json["links"] = links_json(run, snapshot);
  json["ranks"] = ranks_json(run, snapshot);
  json["clocks"] = clocks_json(snapshot);
  json["disk"] = {{"free_bytes", number_or_null(snapshot.disk.free_bytes)},
                  {"left_s", number_or_null(snapshot.disk.left_s)}};
  json["series"] = series_json(snapshot.series);
  json["histograms"] = histograms_json(run, snapshot);
  for (const auto& name : run.histograms) json["spectra"].push_back({{"name", name}});
  const auto& channels = snapshot.now.channels();
  json["channels"] = channels_json(run.known, channels.busiest(ChannelCounts::Limits{}.of_source));
  if (!run.known.groups().empty()) json["groups"] = hits_by_group(run, channels);
  json["share_counted"] = share_counted(snapshot);
  json["ledger"] = ledger_json(snapshot.totals, CausesShown::all, balances(snapshot.totals));
  json["alarms"] = alarms_json(snapshot.alarms);
  json["log"] = log_json(log);
  json["commands"] = Json::array();
  for (const auto& command : commands) json["commands"].push_back(to_json(command));
  json["control"] = {{"enabled", true}};
  json["events"] = latest_events(run, snapshot);
  return json;
}

Json latest_events(const RunDescription& run, const RunSnapshot& snapshot) {
  Json list = Json::array();
  for (const auto& event : snapshot.now.events()) {
    list.push_back(event_json(run, event));
  }
  return list;
}

std::string to_text(const Json& json) { return json.dump(); }

}  // namespace eventloom
