#include "app/run/run_report.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "app/command/report_file.hpp"
#include "app/command/safe_text.hpp"
#include "app/document/alarm_json.hpp"
#include "app/document/clock_json.hpp"
#include "app/document/json_message.hpp"
#include "app/run/companion_report.hpp"
#include "app/run/source_lines.hpp"
#include "app/run/unplaced_report.hpp"
#include "app/run/unused_channels.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "formats/duration_text.hpp"
#include "io/files/folder.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_format/totals_json.hpp"

namespace eventloom {

namespace {

Json per_source(const RunSetup& setup, const RunResult& result) {
  Json list = Json::array();
  for (std::uint32_t s = 0; s < setup.sources.size(); ++s) {
    list.push_back({{"source", s}, {"name", setup.sources[s].name}, {"counts", counts_of(result, s).by_name()}});
  }
  return list;
}

Json per_filter(const std::vector<std::string>& filters, const RunTotals& t) {
  Json list = Json::array();
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const auto [accepted, rejected] = counts_of_filter(filters, t, i);
    list.push_back({{"expression", filters[i]}, {"accepted", accepted}, {"rejected", rejected}});
  }
  return list;
}

void print_filters(std::ostream& out, const std::vector<std::string>& filters, const RunTotals& t) {
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const auto [accepted, rejected] = counts_of_filter(filters, t, i);
    out << fmt::format("filter '{}': {} events accepted, {} rejected\n", for_terminal(filters[i]), accepted, rejected);
  }
}

/// Every rank has reported its first events; the first of the run are among these.
void print_explained(std::ostream& out, std::size_t most, const RunResult& result) {
  std::size_t n = 0;
  for (const auto& [time, text] : result.explained) {
    if (n++ < most) out << text;
  }
}

/// `of`: prefix that names the definition if there are several.
void report_truncated(const std::string& of, const RunSetup& setup, Tick overlap, std::uint64_t events) {
  log::warn("{}{} event{} truncated: raise --overlap (now {})", of, events, events == 1 ? "" : "s",
            setup.numbered ? std::to_string(overlap.value) + " event numbers"
                           : duration_text(overlap, setup.run.geometry.base.tick_ps));
}

/// Front-end markers are data, too.
void report_left_out(const RunTotals& totals) {
  const auto counts = other_markers(totals.counters);
  if (!counts.any()) return;
  log::warn("not in the output: {}: events hold hits and their payload only; 'eventloom inspect' counts them by file",
            text_of(counts));
}

double million_per_second(std::uint64_t n, double seconds) {
  return seconds > 0 ? static_cast<double>(n) / seconds / 1e6 : 0;
}

std::uint64_t bytes_of(const std::vector<PartInfo>& parts) {
  std::uint64_t sum = 0;
  for (const auto& part : parts) sum += part.bytes;
  return sum;
}

void print_count(std::ostream& out, std::string_view what, std::uint64_t n) {
  out << fmt::format("  {:<30} {:>14}\n", what, n);
}

void print_ledger(std::ostream& out, const RunTotals& t) {
  out << "ledger\n";
  print_count(out, "hits in", t[Metric::hits_in]);
  print_count(out, "= in events", t[Metric::hits_in_events]);
  print_count(out, "+ outside events", t[Metric::hits_outside]);
  print_count(out, "+ rejected by filter", t[Metric::hits_rejected]);
  for (std::size_t i = 0; i < kDropCauses; ++i) {
    const auto hits = t[dropped_hits(static_cast<DropCause>(i))];
    if (hits != 0) print_count(out, "+ dropped, " + std::string(kDropCauseNames[i]), hits);
  }
  if (t.dropped() == 0) print_count(out, "+ dropped", 0);
}

void print_slots(std::ostream& out, const RunResult& result) {
  const auto worst = std::ranges::max(result.clocks, {}, &ClockQuality::precision_ns);
  out << fmt::format("slots kept by clocks that agree within {:.1f} us; {} of {} transfers late\n",
                     worst.precision_ns / 1e3, result.totals[Metric::late_transfers], result.totals[Metric::messages]);
}

void print_tap(std::ostream& out, const RunTotals& t) {
  out << fmt::format("tap: {} clients, {} refused, {} events in {} bytes sent; {} events in {} buffers dropped\n",
                     t[Metric::tap_connections], t[Metric::tap_refused], t[Metric::tap_events], t[Metric::tap_bytes],
                     t[Metric::tap_events_dropped], t[Metric::tap_buffers_dropped]);
}

void print_replies(std::ostream& out, const RunTotals& t) {
  out << fmt::format("reply: {} events, {} of them cut, in {} datagrams of {} bytes; {} dropped, {} refused\n",
                     t[Metric::reply_events], t[Metric::reply_cut], t[Metric::reply_datagrams], t[Metric::reply_bytes],
                     t[Metric::reply_dropped], t[Metric::reply_refused]);
}

void print_latency(std::ostream& out, const LatencyHistogram& latency) {
  out << fmt::format("from its first hit until an event is built: median {:.2f} ms, 99 % within {:.2f} ms\n",
                     latency.percentile(50) / 1e6, latency.percentile(99) / 1e6);
}

RunTotals add_up(const RunTotals& mine, const Collective& ranks) {
  RunTotals all;
  for (const auto& counters : ranks.all_gather(mine.counters)) all.counters.add(counters);
  std::map<std::uint32_t, MarkerCounts::Numbers> left_out;
  for (const auto& [source, counts] : mine.left_out) left_out[source] = counts.numbers();
  const Json lists = {mine.events_lacking, mine.source_losses, mine.rejected_by, left_out, mine.live_hits};
  for (const auto& json : all_gather_json(ranks, lists)) {
    RunTotals theirs{{}, json.at(0), json.at(1), json.at(2), {}, json.at(4)};
    for (const auto& [source, numbers] : json.at(3).get<decltype(left_out)>()) {
      theirs.left_out[source] = MarkerCounts::of(numbers);
    }
    all.add(theirs);
  }
  return all;
}

using CountsBySource = std::map<std::uint32_t, SourceCounts>;

CountsBySource add_up(const CountsBySource& mine, const Collective& ranks) {
  struct Entry {
    std::uint32_t source = 0;
    SourceCounts counts;
  };
  std::vector<Entry> list;
  for (const auto& [source, counts] : mine) list.push_back({source, counts});
  CountsBySource all;
  for (const auto& theirs : ranks.all_gather(list)) {
    for (const auto& [source, counts] : theirs) all[source].add(counts);
  }
  return all;
}

template <class T>
std::vector<T> joined(const std::vector<std::vector<T>>& lists) {
  std::vector<T> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

Json to_json(const std::vector<PartInfo>& parts) {
  Json list = Json::array();
  for (const auto& part : parts) list.push_back(to_json(part));
  return list;
}

/// Returns the number of hits that builders received of those that sources read; nothing if sources also read other
/// hits.
std::optional<std::uint64_t> built_of_read(const RunResult& result) {
  if (!result.live) return result.totals[Metric::hits_in];
  // Live sources do not resend what an earlier run has built; recordings are read from the beginning.
  const bool mixed = !result.all_live && result.hits_before != 0;
  if (result.input_cut || mixed) return std::nullopt;
  return result.totals[Metric::hits_in] - result.hits_before;
}

/// Counts the input elements that were not requested, such as events with other ids.
std::uint64_t skipped_elements(const RunResult& result) {
  std::uint64_t all = 0;
  for (const auto& [source, counts] : result.sources) all += counts.counters[Metric::skipped_elements];
  return all;
}

/// Returns the prefix of messages about a definition.
std::string prefix_of(const DefineOption& define) { return define.name.empty() ? "" : define.name + ": "; }

/// Prints the events of one definition and the account of its hits.
void print_events(std::ostream& out, const std::string& of, const RunSetup& setup, const RunResult& result) {
  const auto& t = result.totals;
  out << of
      << fmt::format("{} events with {} hits in {} slices from {} sources, by {} builders and {} filters on {} ranks\n",
                     t[Metric::events], t[Metric::hits_written], t[Metric::slices], setup.sources.size(),
                     setup.roles.builders, setup.roles.filters, setup.roles.ranks);
  print_ledger(out, t);
  print_filters(out, setup.run.filters, t);
  if (t[Metric::events_truncated] != 0) print_count(out, "events truncated", t[Metric::events_truncated]);
  if (t[Metric::events_incomplete] != 0) print_count(out, "events incomplete", t[Metric::events_incomplete]);
  if (t[Metric::events_tag_error] != 0) print_count(out, "events with a tag error", t[Metric::events_tag_error]);
  if (t[Metric::anomalies] != 0) print_count(out, "other input damage", t[Metric::anomalies]);
  if (const auto skipped = skipped_elements(result)) print_count(out, "elements skipped in inputs", skipped);
  print_sources(out, setup, result);
}

/// Prints warnings last, where they are visible on a terminal.
void report_warnings(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results) {
  const auto& result = results.front();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto of = prefix_of(output.runs[i].define);
    const auto truncated = results[i].totals[Metric::events_truncated];
    if (truncated != 0 && !results[i].unfinished) report_truncated(of, setup, setup.run.events[i].overlap, truncated);
  }
  report_left_out(result.totals);
  if (!result.unplaced.empty() && !result.unfinished) report_unplaced(setup, result.unplaced);
  if (result.unused && !result.unfinished) report_unused(*result.unused);
  report_clocks(setup, result);
  report_remarks(setup, result);
}

std::string files_of(const OutputSettings& output) {
  std::string files = output.file;
  if (!output.has_index()) return files;
  for (const auto& run : output.runs) files += (&run == &output.runs.front() ? ": " : ", ") + run.file;
  return files;
}

/// {folder: number of the parts that are there, since the disk of the run file was full}
std::map<std::string, std::size_t> moved_parts(const std::filesystem::path& run_file,
                                               const std::vector<PartInfo>& parts) {
  std::map<std::string, std::size_t> moved;
  for (const auto& part : parts) {
    const auto link = run_file.parent_path() / part.name;
    if (leads_to_moved(link)) ++moved[std::filesystem::read_symlink(link).parent_path().string()];
  }
  return moved;
}

void print_moved(std::ostream& out, const std::string& run_file, const std::vector<PartInfo>& parts) {
  for (const auto& [folder, n] : moved_parts(run_file, parts)) {
    out << fmt::format("{} of its {} part files are in '{}', as the disk was full; links beside it lead to them\n", n,
                       parts.size(), folder);
  }
}

/// "2.3 MB written in 4 part files", or "..., merged into 1 file of 2.1 MB", after which there are no parts.
std::string written_text(const OutputSettings& output, const std::vector<RunResult>& results) {
  constexpr double kMega = 1e6;
  std::uint64_t bytes = 0;
  std::uint64_t merged_bytes = 0;
  std::size_t parts = 0;
  std::size_t merged = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    bytes += bytes_of(results[i].parts);
    parts += results[i].parts.size();
    if (!is_merged_file(output.runs[i].file)) continue;
    ++merged;
    merged_bytes += std::filesystem::file_size(output.runs[i].file);
  }
  const auto written = fmt::format("{:.1f} MB written", static_cast<double>(bytes) / kMega);
  if (merged == 0) return fmt::format("{} in {} part files", written, parts);
  return fmt::format("{}, merged into {} file{} of {:.1f} MB", written, merged, merged == 1 ? "" : "s",
                     static_cast<double>(merged_bytes) / kMega);
}

Json of_events(const DefinitionOutput& output, const RunSetup& setup, const RunResult& result) {
  Json json = Json::object();
  json["totals"] = to_json(result.totals);
  json["parts"] = to_json(is_merged_file(output.file) ? std::vector<PartInfo>() : result.parts);
  if (const auto moved = moved_parts(output.file, result.parts); !moved.empty()) json["moved_parts"] = moved;
  json["balanced"] = imbalances(result).empty();
  json["output"] = output.file;
  if (!output.also.empty()) json["also"] = companions_json(output, result.parts);
  if (!setup.run.filters.empty()) json["per_filter"] = per_filter(setup.run.filters, result.totals);
  return json;
}

Json per_definition(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results) {
  Json list = Json::array();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto& run = output.runs[i];
    Json json{{"name", run.define.name}, {"definition", run.define.text}};
    json.update(of_events(run, setup, results[i]));
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

RunResult add_up(const RunResult& mine, const Collective& ranks) {
  RunResult all;
  all.clocks = mine.clocks;
  all.totals = add_up(mine.totals, ranks);
  all.sources = add_up(mine.sources, ranks);
  all.input_cut = ranks.any(mine.input_cut);
  all.unfinished = ranks.any(mine.unfinished);
  all.seconds = ranks.max(mine.seconds);
  all.sorted_files = joined(ranks.all_gather(mine.sorted_files));
  all.sorted_damage = joined(ranks.all_gather(mine.sorted_damage));
  all.channels_seen.resize(mine.channels_seen.size());
  for (const auto& theirs : ranks.all_gather(mine.channels_seen)) {
    std::ranges::transform(theirs, all.channels_seen, all.channels_seen.begin(), std::bit_or());
  }
  Json explained = Json::array();
  for (const auto& [time, text] : mine.explained) explained.push_back({time.value, text});
  Json ends = Json::array();
  for (const auto& [source, end] : mine.ends) ends.push_back({source, end.value});
  Json spans = Json::array();
  for (const auto& [source, span] : mine.spans) spans.push_back({source, span.first.value, span.last.value});
  const Json lists = {{"latency", mine.latency.packed()},   {"explained", explained}, {"remarks", mine.remarks},
                      {"unplaced", to_json(mine.unplaced)}, {"ends", ends},           {"spans", spans},
                      {"parts", to_json(mine.parts)}};
  for (const auto& json : all_gather_json(ranks, lists)) {
    for (const auto& [time, text] : json.at("explained").get<std::map<std::uint64_t, std::string>>()) {
      all.explained.emplace(time, text);
    }
    all.remarks.merge(json.at("remarks").get<decltype(all.remarks)>());
    add_unplaced(json.at("unplaced"), all.unplaced);
    for (const auto& [source, end] : json.at("ends").get<std::map<std::uint32_t, std::uint64_t>>()) {
      all.ends.emplace(source, end);
    }
    for (const auto& span : json.at("spans"))
      add_span(all.spans, span[0], {Tick(span[1].get<std::uint64_t>()), Tick(span[2].get<std::uint64_t>())});
    all.latency.add(LatencyHistogram::unpack(json.at("latency")));
    for (const auto& part : json.at("parts")) all.parts.push_back(part_from_json(part));
  }
  std::ranges::sort(all.parts, {}, [](const PartInfo& p) { return std::pair(p.writer, p.segment); });
  return all;
}

std::vector<std::string> imbalances(const RunResult& result) {
  const auto& t = result.totals;
  std::vector<std::string> wrong;
  const auto expect = [&](std::uint64_t a, std::uint64_t b, const char* what) {
    if (a != b) wrong.push_back(std::string(what) + ": " + std::to_string(a) + " and " + std::to_string(b));
  };
  expect(t[Metric::unbalanced_slices], 0, "slices whose account does not balance, and none expected");
  expect(t[Metric::hits_in],
         t[Metric::hits_in_events] + t[Metric::hits_outside] + t[Metric::hits_rejected] + t.dropped(),
         "hits in and accounted for");
  // Events of an interrupted run extend into slices that are still to come.
  if (result.unfinished) return wrong;
  if (const auto built = built_of_read(result)) {
    expect(*built, t[Metric::hits_read], "hits that the builders had and that the sources read");
  }
  expect(t[Metric::hits_in_events], t[Metric::hits_written],
         "hits in events by the slices' accounts and by the events written");
  return wrong;
}

int exit_code_of(const RunResult& result) {
  if (result.unfinished) return kExitStopped;
  const bool loss = result.totals.counters.any_trouble() || !imbalances(result).empty();
  return loss ? kExitLosses : kExitOk;
}

int exit_code_of(const std::vector<RunResult>& results) {
  int worst = kExitOk;
  for (const auto& result : results) worst = std::max(worst, exit_code_of(result));
  return worst;
}

void print_summary(std::ostream& out, const OutputSettings& output, const RunSetup& setup,
                   const std::vector<RunResult>& results, const std::string& stopped_by) {
  const auto& result = results.front();
  if (output.run_number) {
    out << fmt::format("run {}{}\n", *output.run_number, stopped_by.empty() ? "" : " was ended by " + stopped_by);
  }
  if (result.unfinished) {
    out << "stopped by " << (stopped_by.empty() ? "a full or failing disk" : stopped_by) << "; "
        << how_to_continue(output.run_number.has_value(), setup.live && !output.save_sorted.empty())
        << "; finished so far:\n";
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    print_explained(out, output.explain, results[i]);
    print_events(out, prefix_of(output.runs[i].define), setup, results[i]);
  }
  if (!result.clocks.empty()) print_slots(out, result);
  if (result.latency.count() != 0) print_latency(out, result.latency);
  if (output.tap) print_tap(out, result.totals);
  if (output.reply) print_replies(out, result.totals);
  const auto hits = result.totals[Metric::hits_in] - result.hits_before;
  out << fmt::format("{:.3f} s, {:.1f} million hits/s in, {}, {:.0f} MB peak memory of a rank\n", result.seconds,
                     million_per_second(hits, result.seconds), written_text(output, results),
                     static_cast<double>(result.totals[Metric::peak_rss_bytes]) / 1e6);
  out << "output: " << files_of(output) << '\n';
  for (std::size_t i = 0; i < results.size(); ++i) {
    print_moved(out, output.runs[i].file, results[i].parts);
    print_companions(out, output.runs[i], results[i].parts);
  }
  out.flush();  // before anything on standard error
  report_warnings(output, setup, results);
}

void write_report_json(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results,
                       const ExchangeBackend& backend) {
  const auto& result = results.front();
  const auto& t = result.totals;
  Json json{{"format", kRunReport}};
  if (output.run_number) json["run_number"] = *output.run_number;
  if (output.has_index()) {
    json["definitions"] = per_definition(output, setup, results);
    json["output"] = output.file;
  } else {
    json.update(of_events(output.runs.front(), setup, result));
  }
  t.counters.put_into(json, {Metric::hits_read});
  t.counters.put_into(json["sent"], Account::exchange);
  t.counters.put_into(json["sent"], {Metric::late_transfers});
  if (output.tap) t.counters.put_into(json["tap"], Account::tap);
  if (output.reply) t.counters.put_into(json["reply"], Account::reply);
  json["unfinished"] = result.unfinished;
  if (result.latency.count() != 0) json["latency"] = result.latency.to_json();
  json["seconds"] = result.seconds;
  t.counters.put_into(json, {Metric::peak_rss_bytes});
  json["exit_code"] = exit_code_of(results);
  json["hits_per_second"] =
      1e6 * million_per_second(result.totals[Metric::hits_in] - result.hits_before, result.seconds);
  json["slices_before"] = result.slices_before;
  json["ranks"] = setup.roles.ranks;
  json["sources"] = setup.sources.size();
  json["per_source"] = per_source(setup, result);
  if (result.unused) json["detector"] = to_json(*result.unused);
  if (!result.unplaced.empty()) json["hits_without_position"] = to_json(result.unplaced);
  json["builders"] = setup.roles.builders;
  json["filters"] = setup.roles.filters;
  json["hosts"] = setup.hosts;
  if (!setup.realtime.empty()) json["realtime"] = to_json(setup.realtime);
  json["exchange"] = {{"pml", backend.pml}, {"osc", backend.osc}, {"ucx_transports", backend.transports}};
  if (!result.clocks.empty()) json["clocks"] = to_json(result.clocks);
  json["commands"] = Json::array();
  for (const auto& command : result.commands) json["commands"].push_back(to_json(command));
  json["alarms"] = Json::array();
  for (const auto& alarm : result.statistics.alarms) json["alarms"].push_back(to_json(alarm));
  json["remarks"] = remarks_json(result);
  json["setup"] = output.setup;
  json["in_force"] = setup.in_force;
  write_report(output.report_json, json.dump(2) + "\n");
}

}  // namespace eventloom
