#include "app/run/run_report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "app/clock_json.hpp"
#include "app/report_file.hpp"
#include "app/run/json_message.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"
#include "formats/duration_text.hpp"
#include "io/hdf5/totals_json.hpp"

namespace eventloom {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const SourceCount& sent) {
  const auto& e = sent.exchange;
  return {{"messages", e.messages},     {"message_bytes", e.message_bytes}, {"cells", e.cells},
          {"cell_bytes", e.cell_bytes}, {"notifications", e.notifications}, {"late_transfers", sent.late_transfers}};
}

SourceCount sent_from_json(const Json& json) {
  SourceCount sent;
  sent.exchange = {json.at("messages"), json.at("message_bytes"), json.at("cells"), json.at("cell_bytes"),
                   json.at("notifications")};
  sent.late_transfers = json.at("late_transfers");
  return sent;
}

Json to_json(const RunResult& result) {
  Json parts = Json::array();
  for (const auto& part : result.parts) parts.push_back(to_json(part));
  Json counts = Json::object();
  for (const auto& [source, values] : result.sources) counts[std::to_string(source)] = values;
  return {{"sorted", to_text(result.sorted_files, result.sorted_damage)},
          {"totals", to_json(result.totals)},
          {"hits_read", result.hits_read},
          {"sent", to_json(result.sent)},
          {"counts", counts},
          {"parts", parts},
          {"unfinished", result.unfinished},
          {"input_cut", result.input_cut},
          {"latency", result.latency.to_text()},
          {"seconds", result.seconds},
          {"peak_rss_bytes", result.peak_rss_bytes}};
}

/// What went wrong is told apart from what is only counted.
constexpr std::array<std::string_view, 20> kTroubles = {
    "missing_numbers", "duplicate_numbers",        "repeated_incomplete", "out_of_step",  "untimed_events",
    "events_lacking",  "hits_dropped_lost",        "hits_dropped_late",   "lost_buffers", "hits_dropped_congested",
    "dead_time_ns",    "hits_dropped_corrupt",     "kernel_drops",        "malformed",    "reconnects",
    "epochs_given_up", "hits_dropped_out_of_step", "after_end",           "eras",         "era_offset"};

/// The counts of a source, and in how many events it is missing.
SourceCounts counts_of(const RunResult& result, std::uint32_t source) {
  const auto found = result.sources.find(source);
  auto counts = found == result.sources.end() ? SourceCounts{} : found->second;
  const auto losses = result.totals.source_losses.find(source);
  for (std::size_t i = 0; losses != result.totals.source_losses.end() && i < kDropCauses; ++i) {
    if (losses->second[i] != 0) counts["hits_dropped_" + std::string(kDropCauseNames[i])] += losses->second[i];
  }
  const auto& lacking = result.totals.events_lacking;
  if (source + 1 < lacking.size()) counts["events_lacking"] = lacking[source];
  return counts;
}

Json per_source(const RunSetup& setup, const RunResult& result) {
  Json list = Json::array();
  for (std::uint32_t s = 0; s < setup.sources.size(); ++s) {
    list.push_back({{"source", s}, {"name", setup.sources[s].name}, {"counts", counts_of(result, s)}});
  }
  return list;
}

void tell_truncated(const RunSetup& setup, std::uint64_t events) {
  const auto& geometry = setup.run.geometry;
  spdlog::warn("{} event{} truncated: raise --overlap (now {})", events, events == 1 ? "" : "s",
               setup.numbered ? std::to_string(geometry.overlap) + " event numbers"
                              : duration_text(geometry.overlap, geometry.base.tick_ps));
}

void print_troubles(std::ostream& out, const RunSetup& setup, const RunResult& result) {
  for (std::uint32_t s = 0; s < setup.sources.size(); ++s) {
    std::string text;
    for (const auto& [name, n] : counts_of(result, s)) {
      if (n == 0 || std::ranges::find(kTroubles, name) == kTroubles.end()) continue;
      text += (text.empty() ? "" : ", ") + name + " " + std::to_string(n);
    }
    if (!text.empty()) out << "source " << s << " (" << setup.sources[s].name << "): " << text << '\n';
  }
}

double million_per_second(std::uint64_t n, double seconds) {
  return seconds > 0 ? static_cast<double>(n) / seconds / 1e6 : 0;
}

std::uint64_t bytes_of(const std::vector<PartInfo>& parts) {
  std::uint64_t sum = 0;
  for (const auto& part : parts) sum += part.bytes;
  return sum;
}

void print_count(std::ostream& out, const char* what, std::uint64_t n) {
  char line[80];
  std::snprintf(line, sizeof line, "  %-30s %14llu\n", what, static_cast<unsigned long long>(n));
  out << line;
}

void print_ledger(std::ostream& out, const RunTotals& t) {
  out << "ledger\n";
  print_count(out, "hits in", t.hits_in);
  print_count(out, "= in events", t.hits_in_events);
  print_count(out, "+ outside events", t.hits_outside);
  print_count(out, "+ rejected by filter", t.hits_rejected);
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    if (t.hits_dropped[i] == 0) continue;
    print_count(out, ("+ dropped, " + std::string(kDropCauseNames[i])).c_str(), t.hits_dropped[i]);
  }
  if (t.dropped() == 0) print_count(out, "+ dropped", 0);
}

void print_slots(std::ostream& out, const RunResult& result) {
  const auto worst = std::ranges::max(result.clocks, {}, &ClockQuality::precision_ns);
  char line[160];
  std::snprintf(line, sizeof line, "slots kept by clocks that agree within %.1f us; %llu of %llu transfers late\n",
                worst.precision_ns / 1e3, static_cast<unsigned long long>(result.sent.late_transfers),
                static_cast<unsigned long long>(result.sent.exchange.messages));
  out << line;
}

void print_latency(std::ostream& out, const LatencyHistogram& latency) {
  char line[160];
  std::snprintf(line, sizeof line, "from its first hit until an event is built: median %.2f ms, 99 %% within %.2f ms\n",
                latency.percentile(50) / 1e6, latency.percentile(99) / 1e6);
  out << line;
}

}  // namespace

RunResult add_up(const RunResult& mine, const Collective& ranks) {
  RunResult all;
  all.clocks = mine.clocks;
  for (const auto& json : all_gather_json(ranks, to_json(mine))) {
    all.totals.add(totals_from_json(json.at("totals")));
    all.hits_read += json.at("hits_read").get<std::uint64_t>();
    all.sent.add(sent_from_json(json.at("sent")));
    for (const auto& [source, values] : json.at("counts").items()) {
      auto& counts = all.sources[static_cast<std::uint32_t>(std::stoul(source))];
      for (const auto& [name, n] : values.items()) counts[name] += n.get<std::uint64_t>();
    }
    add_from_text(json.at("sorted"), all.sorted_files, all.sorted_damage);
    for (const auto& part : json.at("parts")) all.parts.push_back(part_from_json(part));
    all.input_cut = all.input_cut || json.at("input_cut").get<bool>();
    all.latency.add(LatencyHistogram::from_text(json.at("latency")));
    all.unfinished = all.unfinished || json.at("unfinished").get<bool>();
    all.seconds = std::max(all.seconds, json.at("seconds").get<double>());
    all.peak_rss_bytes = std::max(all.peak_rss_bytes, json.at("peak_rss_bytes").get<std::uint64_t>());
  }
  std::ranges::sort(all.parts, {}, [](const PartInfo& p) { return std::pair(p.writer, p.segment); });
  return all;
}

namespace {

/// Hits that the builders had of those that the sources have read; nothing where sources have read others, too.
std::optional<std::uint64_t> built_of_read(const RunResult& result) {
  if (!result.live) return result.totals.hits_in;
  // Live sources do not send again what an earlier run has built; recordings are read from their beginning.
  const bool mixed = !result.all_live && result.hits_before != 0;
  if (result.input_cut || mixed) return std::nullopt;
  return result.totals.hits_in - result.hits_before;
}

}  // namespace

std::vector<std::string> imbalances(const RunResult& result) {
  const auto& t = result.totals;
  std::vector<std::string> wrong;
  const auto expect = [&](std::uint64_t a, std::uint64_t b, const char* what) {
    if (a != b) wrong.push_back(std::string(what) + ": " + std::to_string(a) + " and " + std::to_string(b));
  };
  expect(t.unbalanced_slices, 0, "slices whose account does not balance, and none expected");
  expect(t.hits_in, t.hits_in_events + t.hits_outside + t.hits_rejected + t.dropped(), "hits in and accounted for");
  // Where a run was cut off, events have hits in slices that are still to come.
  if (result.unfinished) return wrong;
  if (const auto built = built_of_read(result)) {
    expect(*built, result.hits_read, "hits that the builders had and that the sources read");
  }
  expect(t.hits_in_events, t.hits_written, "hits in events by the slices' accounts and by the events written");
  return wrong;
}

int exit_code_of(const RunResult& result) {
  if (result.unfinished) return kExitStopped;
  const auto& t = result.totals;
  const bool loss = t.dropped() != 0 || t.events_truncated != 0 || t.events_incomplete != 0 ||
                    t.incomplete_slices != 0 || t.anomalies != 0 || !imbalances(result).empty();
  return loss ? kExitLosses : kExitOk;
}

void print_summary(std::ostream& out, const RunConfig& config, const RunSetup& setup, const RunResult& result,
                   const std::string& stopped_by) {
  const auto& t = result.totals;
  char line[160];
  if (result.unfinished) {
    out << "stopped by " << (stopped_by.empty() ? "a full or failing disk" : stopped_by)
        << "; the same command with --resume "
        << (setup.live && !config.save_sorted.empty() ? "and without --save-sorted " : "")
        << "goes on; finished so far:\n";
  }
  std::snprintf(
      line, sizeof line,
      "%llu events with %llu hits in %llu slices from %zu sources, by %u builders and %u filters on %d ranks\n",
      static_cast<unsigned long long>(t.events), static_cast<unsigned long long>(t.hits_written),
      static_cast<unsigned long long>(t.slices), setup.sources.size(), setup.roles.builders, setup.roles.filters,
      setup.roles.ranks);
  out << line;
  print_ledger(out, t);
  if (t.events_truncated != 0) print_count(out, "events truncated", t.events_truncated);
  if (t.events_incomplete != 0) print_count(out, "events incomplete", t.events_incomplete);
  if (t.anomalies != 0) print_count(out, "other input damage", t.anomalies);
  print_troubles(out, setup, result);
  if (t.events_truncated != 0 && !result.unfinished) tell_truncated(setup, t.events_truncated);
  if (!result.clocks.empty()) print_slots(out, result);
  if (result.latency.count() != 0) print_latency(out, result.latency);
  std::snprintf(line, sizeof line,
                "%.3f s, %.1f million hits/s in, %.1f MB written in %zu part files, %.0f MB peak memory of a rank\n",
                result.seconds, million_per_second(t.hits_in - result.hits_before, result.seconds),
                static_cast<double>(bytes_of(result.parts)) / 1e6, result.parts.size(),
                static_cast<double>(result.peak_rss_bytes) / 1e6);
  out << line << "output: " << config.output << '\n';
}

void write_report_json(const RunConfig& config, const RunSetup& setup, const RunResult& result,
                       const ExchangeBackend& backend) {
  Json json{{"format", kRunReport}};
  json.update(to_json(result));
  json["balanced"] = imbalances(result).empty();
  json["exit_code"] = exit_code_of(result);
  json["hits_per_second"] = 1e6 * million_per_second(result.totals.hits_in - result.hits_before, result.seconds);
  json["slices_before"] = result.slices_before;
  json["output"] = config.output;
  json["ranks"] = setup.roles.ranks;
  json["sources"] = setup.sources.size();
  json.erase("input_cut");
  if (result.latency.count() == 0) {
    json.erase("latency");
  } else {
    json["latency"] = result.latency.to_json();
  }
  json.erase("counts");
  json.erase("sorted");
  json["per_source"] = per_source(setup, result);
  json["builders"] = setup.roles.builders;
  json["filters"] = setup.roles.filters;
  json["hosts"] = setup.hosts;
  json["exchange"] = {{"pml", backend.pml}, {"osc", backend.osc}, {"ucx_transports", backend.transports}};
  if (!result.clocks.empty()) json["clocks"] = to_json(result.clocks);
  json["setup"] = config.effective;
  json["in_force"] = in_force(config, setup.run.geometry, setup.numbered);
  write_report(config.report_json, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace eventloom
