#include "app/view/report/report_document.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "app/document/detector_json.hpp"
#include "app/document/detector_names.hpp"
#include "app/document/histogram_json.hpp"
#include "app/document/payload_numbers.hpp"
#include "app/document/status_parts.hpp"
#include "app/view/report/statistics_document.hpp"
#include "core/runtime/format.hpp"
#include "formats/duration_text.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kMostBins = 60;
constexpr std::uint64_t kMostHits = 2000;  // per drawn event
constexpr std::size_t kMostChannels = 4096;
constexpr std::size_t kMostChannelsOfAll = 65536;

std::string version_of(const RunRecord& record) {
  const auto& commit = record.eventloom_commit;
  return commit.empty() ? record.eventloom_version : fmt::format("{} ({})", record.eventloom_version, commit);
}

Json setup_of(const RunRecord& record) {
  return {{"definition", record.definition},
          {"filters", record.filters},
          {"schedule", setup_option(record, "schedule")},
          {"tick_ps", record.base.tick_ps},
          {"epoch_ticks", record.base.epoch_ticks},
          {"epochs_per_slice", record.epochs_per_slice},
          {"overlap_ticks", record.overlap.value},
          {"numbered", record.numbered},
          {"hosts", record.hosts},
          {"versions",
           {{"eventloom", version_of(record)},
            {"mpi", record.mpi_version},
            {"ucx", record.ucx_version},
            {"hdf5", record.hdf5_version}}},
          {"configuration", record.setup}};
}

Json counters_of(const RunTotals& totals) {
  Json list = Json::array();
  for (const auto account : {Account::slices, Account::dropped}) {
    for (const auto& metric : metrics_of(account)) list.push_back(Json(counter_json(metric, totals[metric.metric])));
  }
  return list;
}

Json ledger_of(const RunTotals& totals) {
  return Json(ledger_json(totals.counters, CausesShown::with_hits, totals[Metric::unbalanced_slices] == 0));
}

double per(std::uint64_t n, double seconds) { return seconds > 0 ? static_cast<double>(n) / seconds : 0; }

Json sources_of(const RunTables& run, const RunSummary& summary, double seconds) {
  Json list = Json::array();
  const auto hits = summary.hits.of_sources();
  for (std::size_t s = 0; s < run.record.sources.size(); ++s) {
    const auto n = s < hits.size() ? hits[s] : 0;
    Json source = {{"index", s},
                   {"name", run.record.sources[s].name},
                   {"state", summary.slices_missing[s] == 0 ? "complete" : "missing at times"},
                   {"hits_in_events", n},
                   {"slices_missing", summary.slices_missing[s]}};
    if (!run.record.numbered) source["hits_per_s"] = per(n, seconds);
    if (auto label = source_label(summary.known, static_cast<std::uint32_t>(s)); !label.empty())
      source["label"] = std::move(label);
    list.push_back(std::move(source));
  }
  return list;
}

/// Adds the facts of the detector map and the hits by group, if there is a map.
void add_detector_of_run(Json& json, const RunSummary& summary) {
  if (summary.known.empty()) return;
  json["setup"]["detector"] = Json(detector_facts(summary.known));
  if (!summary.known.groups().empty()) json["groups"] = Json(groups_json(summary.known, summary.groups, 0));
}

Json channels_of(const RunSummary& summary) {
  const auto share = kMostChannelsOfAll / std::max<std::size_t>(summary.hits.of_sources().size(), 1);
  return Json(channels_json(summary.known, summary.hits.busiest(std::clamp<std::size_t>(share, 16, kMostChannels))));
}

/// `scale`: converts values to units of the axis.
Json histogram_of(const ValueHistogram& values, const Bins& bins, double scale) {
  Json edges = Json::array();
  for (const auto edge : bins.edges) edges.push_back(static_cast<double>(edge) * scale);
  return {{"edges", edges},
          {"counts", bins.counts},
          {"log_x", bins.log},
          {"log_y", true},
          {"entries", values.count()},
          {"mean", values.mean() * scale},
          {"least", static_cast<double>(values.least()) * scale},
          {"greatest", static_cast<double>(values.greatest()) * scale}};
}

Json with_texts(Json histogram, const char* title, const char* x, const char* unit) {
  histogram["title"] = title;
  histogram["x"] = x;
  histogram["unit"] = unit;
  return histogram;
}

/// Events that are too close together merge into one, so the fit uses only intervals long enough for practically all of
/// them to occur. Intervals across gaps in the data do not reflect the rate. If most intervals span slices without
/// hits, these are not gaps: hits are just rare. Returns std::nullopt if too few intervals remain.
std::optional<Json> fit_of(const RunSummary& summary, const Bins& bins, double tick_ns) {
  constexpr double kNearlyAll = 0.99;
  const auto& all = summary.interval;
  const bool gaps = summary.unbroken.count() < all.count() && summary.unbroken.count() > all.count() / 2;
  const auto& times = gaps ? summary.unbroken : all;
  const auto tail = times.tail(summary.duration.quantile(kNearlyAll) + summary.least_pause.value);
  if (tail.count < 2 || tail.sum <= static_cast<double>(tail.count) * static_cast<double>(tail.from)) return {};
  const auto fit = fit_exponential(times, tail.from, bins);
  const double per_second = 1e9 / tick_ns;
  return Json{{"rate_per_s", fit.rate * per_second},
              {"error_per_s", fit.error * per_second},
              {"entries", fit.entries},
              {"from_ns", static_cast<double>(fit.from) * tick_ns},
              {"range", gaps ? "that span no slice without hits" : ""},
              {"curve", fit.curve}};
}

/// An exponential is meaningless if times are event numbers.
Json interval_of(const RunSummary& summary, const RunRecord& record, double tick_ns) {
  const auto bins = summary.interval.bins(kMostBins);
  auto json = histogram_of(summary.interval, bins, tick_ns);
  if (record.numbered) return json;
  if (auto fit = fit_of(summary, bins, tick_ns)) json["fit"] = std::move(*fit);
  return json;
}

/// Uses the bins of the monitor; each number is in the middle of its bin.
Json multiplicity_of(const ValueHistogram& values) {
  auto json = histogram_of(values, values.monitor_bins(), 1);
  for (auto& edge : json["edges"]) edge = edge.get<double>() - 0.5;
  return json;
}

Json histograms_of(const RunSummary& summary, const RunRecord& record) {
  const double tick_ns = record.numbered ? 1 : static_cast<double>(record.base.tick_ps) / 1000;
  const char* unit = record.numbered ? "event numbers" : "ns";
  Json json = Json::object();
  if (summary.multiplicity.count() == 0) return json;
  json["multiplicity"] = with_texts(multiplicity_of(summary.multiplicity), "Multiplicity", "hits in an event", "");
  if (!record.numbered) {
    json["duration"] = with_texts(histogram_of(summary.duration, summary.duration.bins(kMostBins), tick_ns), "Duration",
                                  "duration", unit);
  }
  if (summary.interval.count() > 0) {
    json["interval"] =
        with_texts(interval_of(summary, record, tick_ns), "Time between events", "first hit to next first hit", unit);
  }
  return json;
}

/// The histograms of --hist, with as many bins as a page can show.
Json spectra_of(std::span<const HistogramRecord> histograms) {
  std::vector<HistogramRecord> shown;
  for (const auto& histogram : histograms) shown.push_back(for_page(histogram));
  return histograms_json(shown).at("histograms");
}

/// Rates in equal sections of the data; for numbered events, counts per event number.
Json series_of(const RunSummary& summary, const RunRecord& record) {
  const auto& series = summary.series;
  const double unit =
      record.numbered ? static_cast<double>(record.epochs_per_slice) * record.base.epoch_ticks : slice_seconds(record);
  Json t = Json::array();
  Json hits = Json::array();
  Json events = Json::array();
  for (std::size_t i = 0; i < series.hits_in.size(); ++i) {
    const auto first = i * series.slices_per_bin;
    const double width = static_cast<double>(std::min(series.slices_per_bin, series.slices - first)) * unit;
    t.push_back(static_cast<double>(first) * unit + width / 2);
    hits.push_back(static_cast<double>(series.hits_in[i]) / width);
    events.push_back(static_cast<double>(series.events[i]) / width);
  }
  const Tick begin(series.first_slice * record.epochs_per_slice * record.base.epoch_ticks);
  const auto from = record.numbered ? std::to_string(begin.value) : duration_text(begin, record.base.tick_ps);
  return {{"t_s", t},
          {"axis", record.numbered ? "event number, from " + from : "time in the data, from " + from + " [s]"},
          {"per", record.numbered ? "event number" : "s"},
          {"hits_per_s", hits},
          {"events_per_s", events}};
}

/// Arrays ordered by builder number. A builder that built nothing is absent from the file.
Json balance_of(const RunSummary& summary) {
  Json numbers = Json::array();
  Json slices = Json::array();
  Json hits = Json::array();
  std::uint64_t most = 0;
  std::uint64_t sum = 0;
  for (const auto& [number, share] : summary.builders) {
    numbers.push_back(number);
    slices.push_back(share.slices);
    hits.push_back(share.hits);
    most = std::max(most, share.hits);
    sum += share.hits;
  }
  Json json = {{"builders", numbers}, {"slices_of_builder", slices}, {"hits_of_builder", hits}};
  // Mean / maximum load: the schedule's efficiency with equal builders.
  if (most > 0)
    json["efficiency"] = static_cast<double>(sum) / static_cast<double>(most) / static_cast<double>(slices.size());
  return json;
}

/// JSON has no NaN, the value of a hit without payload.
std::optional<double> finite_value(std::optional<double> value) {
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// Payload that begins with a sign or decimals is shown as a value, also without gains.
Json event_json(const OutputEvent& event, const RunRecord& record, const KnownChannels& known) {
  const double tick_ns = record.numbered ? 1 : static_cast<double>(record.base.tick_ps) / 1000;
  const PayloadNumbers numbers(record);
  ShownEvent shown{event.time,
                   event.duration,
                   event.n_hits,
                   event.slice,
                   event.flags,
                   record.with_payload,
                   record.hits.with_values || numbers.any_real(),
                   {}};
  for (const auto& hit : event.hits) {
    const auto real = numbers.first_real(hit.source, hit.payload);
    shown.hits.push_back({hit.time - event.time, hit.source, hit.channel,
                          hit.payload.empty() || real ? std::nullopt : std::optional(hit.payload.front()),
                          finite_value(hit.value ? hit.value : real)});
  }
  shown.with_payload = has_words(shown);
  Json json(to_json(shown, tick_ns, known));
  if (const auto utc = utc_of_tick(record, event.time)) json["utc"] = *utc;
  return json;
}

/// Unknown members are omitted.
Json run_of(const std::filesystem::path& path, const RunRecord& record) {
  Json run = {{"name", path.filename().string()}};
  if (!record.began.empty()) run["began"] = record.began;
  if (!record.ended.empty()) run["ended"] = record.ended;
  if (!record.command_lines.empty()) run["command_lines"] = record.command_lines;
  if (!record.time_of_tick_0.empty()) run["time_of_tick_0"] = record.time_of_tick_0;
  return run;
}

/// Parses texts of the form "TIME COMMAND from ADDRESS (NAME)".
Json commands_of(const RunRecord& record) {
  constexpr std::string_view kFrom = " from ";
  Json list = Json::array();
  for (const auto& text : record.commands) {
    const auto command = std::min(text.find(' '), text.size());
    const auto from = std::min(text.find(kFrom, command), text.size());
    if (from < command) continue;
    list.push_back({{"time", text.substr(0, command)},
                    {"command", text.substr(std::min(command + 1, from), from - std::min(command + 1, from))},
                    {"from", text.substr(std::min(from + kFrom.size(), text.size()))}});
  }
  return list;
}

std::string message_of(const RunTables& run, const RunSummary& summary) {
  const auto& t = summary.totals;
  auto text = fmt::format("{} events with {} of {} hits, in {} slices from {} sources", t[Metric::events],
                          t[Metric::hits_written], t[Metric::hits_in], t[Metric::slices], run.record.sources.size());
  if (t.dropped() != 0) text += fmt::format("; {} hits dropped", t.dropped());
  const bool replaced_run_file = !run.record.ended.empty();
  if (run.merged && !replaced_run_file) text += "; what is known of the run itself beyond that is in its run.h5";
  if (run.record.closed) return text;
  if (!run.record.missing.empty()) return run.record.missing + ". In the file: " + text;
  return "The run has not ended: it is still running, or was stopped and can be continued with --resume. Finished so "
         "far: " +
         text;
}

}  // namespace

Json report_document(const std::filesystem::path& path, const RunTables& run, const RunSummary& summary,
                     const RunStatistics& statistics, std::span<const HistogramRecord> histograms) {
  const auto& t = summary.totals;
  const double seconds = static_cast<double>(summary.series.slices) * slice_seconds(run.record);
  Json json = {{"schema", 1},
               {"kind", "report"},
               {"state", run.record.closed ? "complete" : "stopped"},
               {"message", message_of(run, summary)},
               {"run", run_of(path, run.record)},
               {"setup", setup_of(run.record)},
               {"counters", counters_of(t)},
               {"ledger", ledger_of(t)},
               {"sources", sources_of(run, summary, seconds)},
               {"series", series_of(summary, run.record)},
               {"histograms", histograms_of(summary, run.record)},
               {"channels", channels_of(summary)},
               {"balance", balance_of(summary)},
               {"commands", commands_of(run.record)},
               {"events", Json::array()}};
  if (!run.record.numbered) {
    json["run"]["data_s"] = seconds;
    json["rates"] = {{"hits_per_s", per(t[Metric::hits_in], seconds)},
                     {"events_per_s", per(t[Metric::events], seconds)},
                     {"slices_per_s", per(t[Metric::slices], seconds)}};
  }
  add_detector_of_run(json, summary);
  add_statistics(json, statistics);
  if (!histograms.empty()) json["spectra"] = spectra_of(histograms);
  std::set<std::size_t> parts;
  for (const auto& place : summary.chosen) parts.insert(place.part);
  verify_parts(run, parts);
  for (const auto& place : summary.chosen) {
    json["events"].push_back(event_json(read_event(run, place, kMostHits), run.record, summary.known));
  }
  return json;
}

}  // namespace eventloom
