#include "app/run/run_config.hpp"

#include <chrono>
#include <exception>
#include <filesystem>
#include <set>

#include "app/command/command_line.hpp"
#include "app/command/command_words.hpp"
#include "app/command/options.hpp"
#include "app/command/realtime.hpp"
#include "app/command/ring_options.hpp"
#include "app/observe/alarm_command.hpp"
#include "app/run/repeated_run.hpp"
#include "core/definitions/definitions.hpp"
#include "core/runtime/error.hpp"
#include "formats/datagram.hpp"
#include "formats/reply_datagram.hpp"
#include "formats/stream_file.hpp"
#include "formats/utc_time.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

po::typed_value<std::vector<std::string>>* list_value(const char* name) {
  return po::value<std::vector<std::string>>()->value_name(name)->composing();
}

std::string uri_forms(bool live) {
  return list_schemes([live](const SourceScheme& scheme) { return scheme.is_live() == live ? scheme.form : ""; });
}

void add_input_options(po::options_description& options) {
  add_option_rows(options,
                  {{"source", list_value("URI"),
                    ("a source, repeatable: " + uri_forms(false) +
                     "; a glob gives one source per file, with ?concat one in all; live: " + uri_forms(true) +
                     "; all keys: eventloom inspect --schemes")
                        .c_str()},
                   {"tick", text_value("TIME"), "unit of time for imported data (default 1ns)"},
                   {"epoch", text_value("TIME"),
                    "length of an epoch for imported data (default 10us, 500ns with --tick 1ps; 16 event numbers)"},
                   {"time-origin", text_value("UTC", "", "what the sources state, if any does"),
                    "time of tick 0, for the output: 2026-11-21T10:00:00Z, with up to nine decimals, or with an offset "
                    "such as +01:00; White Rabbit stamps (time=wr) and boards state it themselves"},
                   {"speed", po::value<double>()->value_name("X")->default_value(0, "0"),
                    "replay X times as fast as recorded; 0: as fast as possible"},
                   {"loop", text_value("N", "1"), "replay .epochs files N times; times continue"},
                   {"duration", text_value("TIME", "", "none"),
                    "end after TIME, counted from the first data of live sources: a run with live sources is complete "
                    "then, another can be resumed"}});
}

void add_live_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"epoch-timeout", text_value("TIME", "2s"),
        "a live source that lags behind the others for TIME is given up: slices are built without it, flagged "
        "incomplete; 0s: never"},
       {"on-congestion", text_value("MODE", "block"),
        "when live data arrive faster than they can be built: block, the receivers stop reading; or drop, whole epoch "
        "buffers are dropped and counted"},
       {"live-buffer", text_value("BYTES", "256MiB"),
        "maximum held per live source until it is built; data being reassembled (one buffer and one event of an MBS "
        "server, 80 MiB of fragments of a board), rings and builders add to it"},
       {"flush-after", text_value("TIME", "", "none"),
        "longest time that a hit waits for its slice to fill: slices are no longer than that, and where all live "
        "sources have been silent for this time and 1 s, the slice is sent without waiting for further data"},
       {"reconnect", text_value("TIME", "", "none"), "how long to search for a lost MBS server"},
       {"record", text_value("DIR", "", "none"), "also record live sources, as DIR/source-0000.epochs ..."}});
}

constexpr const char* kFilterHelp =
    "keep events for which an expression holds; repeatable, all must. Terms: n_hits>=8, duration<500ns, systems>=2 or "
    "sources>=2 (different ones), channel:0x1200-0x12ff>=1, source:3-5>=1, A>=1 (hits of the group A), A{505..517}>=1 "
    "(those whose value lies in this range), A[-50ns,120ns]>=1 (those in this window around the first hit), "
    "sum(A)>=1000 and max(A)>=80 (values), channels(A)>=3 (different ones), order(A,B) (the first hit of A is not "
    "after the first of B), trigger==3 (of "
    "triggered data), causal(V,DT)>=4 (hits of which each pair has |dt| <= |dr|/V + DT; V in m/ns, or with a unit as "
    "in 0.3m/ns), prescale=10 (one event in 10); compared by >= > <= < == or !=, joined by && || ! and brackets";

constexpr const char* kHistogramHelp =
    "fill a histogram of the events while they are built; repeatable: NAME=QUANTITY:LO..HI/BINS, two axes joined by ;, "
    "perhaps followed by ' if EXPR' (terms as in --filter) and by @hits, for all hits of the run. QUANTITY: value(G) "
    "(of the hits of a group), dt(A,B) (each pair: time of B less that of A), n_hits, duration, channel, time; times "
    "are in ns, or in the unit of LO. See 'eventloom hist'";

void add_event_options(po::options_description& options) {
  const auto define =
      "what an event is, lengths of time in ticks or with a unit; several with names, as in muon=gap:25ns,4, have a "
      "run file each:\n" +
      definition_help();
  add_option_rows(
      options,
      {{"define", list_value("[NAME=]DEF"), define.c_str()},
       {"per-source", po::bool_switch(), "apply each definition to the hits of each source alone"},
       {"filter", list_value("EXPR"), kFilterHelp},
       {"filter-command", text_value("COMMAND", "", "none"),
        "program with its arguments, started without a shell beside each writer, which judges the events that pass the "
        "filters: it reads them from its standard input and answers with a byte each, 1 or 0 (formats/README.md; in "
        "Python: eventloom.filter). If it fails, the run stops and can be resumed"},
       {"filter-timeout", text_value("TIME", "10s"),
        "longest time in which the filter command neither reads nor answers"},
       {"hist", list_value("HIST"), kHistogramHelp},
       {"explain", po::value<std::string>()->value_name("N")->implicit_value("10")->default_value("0", "none"),
        "at the end of the run, say of its first N events (10 where N is left out) which terms of the filters held"},
       {"detector", text_value("MAP.csv", "", "none"),
        "map of the detector: by source and channel, offsets of the times, masks, cuts on the payload, gains, groups, "
        "names and positions; 'eventloom inspect --detector-map' writes a first one"},
       {"group", list_value("NAME=..."),
        "name a group of channels for conditions: A=source:0-3 or A=channel:0x1200-0x12ff; repeatable"},
       {"from", text_value("TIME", "", "none"),
        "build events from hits at or after TIME: a length of time after tick 0, or UTC such as 2026-11-25T10:00:00Z; "
        "others are counted (outside_stretch)"},
       {"to", text_value("TIME", "", "none"), "likewise: from hits before TIME"},
       {"dead-time", list_value("[GROUP=]TIME"),
        "drop hits within TIME after a hit of the same channel that counts, for the channels of a group or for all; "
        "they are counted (dead_time); repeatable"},
       {"epochs-per-slice", text_value("N", "", "those in 1 ms, at least 100"), "epochs built together"},
       {"overlap", text_value("TIME", "", "one epoch, or 20 times the longest length in DEF"),
        "longest event that is kept whole, in ticks or with a unit"}});
}

void add_exchange_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"builders", text_value("N", "0", "0: one per rank"), "number of builders"},
       {"filters", text_value("N", "0", "0: builders select and write"), "number of filters"},
       {"schedule", text_value("NAME", "round-robin"),
        "order of transfers: round-robin, chaotic, balanced, table:FILE, unshifted (see schedulers/README.md)"},
       {"slot", text_value("TIME", "", "none"), "length of a round-robin slot, e.g. 50us, kept by synchronised clocks"},
       {"slices-in-flight", text_value("N", "4"), "slices that a builder assembles at a time"}});
  add_transfers_option(options);
  add_ring_options(options);
  add_realtime_option(options);
}

void add_output_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"output", text_value("FILE", "run.h5"), "the run's file; also the prefix of its part files"},
       {"output-next", text_value("DIR", "", "none"),
        "folder on another disk, seen by all ranks, where the part files continue when the disk of --output is full; "
        "links beside the run's file lead to them"},
       {"runs", text_value("DIR", "", "none"),
        "many runs in one program, DIR/run_0001.h5 and so on, which 'eventloom control' begins and ends; "
        "instead of --output, with live sources and --monitor. The log DIR/runs.jsonl decides the next number; "
        "'eventloom report --runs DIR' shows it. Elsewhere in names of files, {run} stands for the number"},
       {"idle", po::bool_switch(), "with --runs: wait for 'eventloom control URL start' before the first run"},
       {"run-hook", text_value("COMMAND", "", "none"),
        "with --runs: program with its arguments, called without a shell before and after each run with its "
        "number and start or stop, as to start and stop front ends. Unless it ends with exit code 0 the run "
        "does not begin"},
       {"run-hook-timeout", text_value("TIME", "30s"), "longest time that a call of the hook may take"},
       {"also", list_value("FORMAT:PATH"),
        "also write the events as list-mode data, as DABC would: lmd:PATH or "
        "hld:PATH[?size=BYTES&begin=T,T&end=T,T], files of at most that size, which begin or end with "
        "events of these trigger types, and with the part files; one of each at most"},
       {"no-payload", po::bool_switch(),
        "leave the payload out of the part files, which halves what is written where --also has it"},
       {"compress", text_value("LEVEL", "0"), "deflate the output, 1 to 9"},
       {"segment-size", text_value("BYTES", "1GiB"), "bytes after which a writer begins a new part file"},
       {"segment-time", text_value("TIME", "5min"),
        "maximum age of an unfinished part file: the most that a crash can cost"},
       {"scratch", text_value("DIR", "", "none"),
        "node-local folder where part files are written before they are copied to the output folder"},
       {"merge", po::bool_switch(),
        "when the run has ended, merge the part files into the run's file, which is then one plain file, as "
        "'eventloom merge' writes; rank 0 reads and writes all data once more, and the disk must hold both "
        "until the parts are removed"},
       {"resume", po::bool_switch(),
        "resume an interrupted run of the same output; start from the beginning if there is none"},
       {"force", po::bool_switch(),
        "replace a finished run of this output; with --resume an interrupted one is still resumed"},
       {"report-json", text_value("FILE", "", "none"), "write the summary as JSON"},
       {"save-sorted", text_value("DIR", "", "none"),
        "also keep the time-sorted hits with histograms and event tags, as streams that '--source "
        "sorted:DIR' reads without sorting or searching again"}});
}

void add_watching_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"stall-warning", text_value("TIME", "10s"), "report a rank that is silent or makes no progress for TIME"},
       {"stall-timeout", text_value("TIME", "", "none"),
        "end the run, resumable, when a rank is silent or makes no progress for TIME"},
       {"progress", text_value("STYLE", "auto"),
        "on standard error: bar; lines, one every 5 s; none; auto: a bar on a terminal, else lines; ranks under mpirun "
        "have no terminal"},
       {"quiet", po::bool_switch(), "no progress and no messages but errors"},
       {"verbose", po::bool_switch(), "also a message for each epoch buffer dropped when a board's clock jumps"},
       {"monitor", text_value("[ADDR:]PORT", "", "none"),
        "serve a page, /status, /metrics and /events/latest over HTTP during the run; ADDR defaults to "
        "127.0.0.1, PORT 0 takes a free one and says which: anyone who can reach it can read, and steer with the "
        "token"},
       {"monitor-token-file", text_value("FILE", "", "a new token, printed"), "file with the token to steer the run"},
       {"tap", text_value("[mbs://][ADDR:]PORT[/stream|/transport]", "", "none"),
        "serve the events as they are built, as LMD events, to MBS clients such as go4: /stream (the default), a "
        "client requests buffers; /transport, they are pushed. ADDR defaults to 127.0.0.1, PORT 0 takes free ones; "
        "builder N, or filter N where there are filters, takes PORT + N. A client that is too slow loses whole "
        "buffers; of several --define the first is served"},
       {"reply", text_value("udp://HOST:PORT,..", "", "none"),
        "send each event that is kept to a board as soon as it is built, a datagram each (formats/README.md); of "
        "several "
        "addresses each gets every event. Never waits: what the system has no room for is dropped and counted"},
       {"reply-if", list_value("EXPR"),
        "send only events for which an expression holds, terms as in --filter; repeatable, all must"},
       {"reply-size", text_value("BYTES", "1472"),
        "of a reply, at most; 128 to 65507: of a larger event the first hits are sent, with a flag. The default fits "
        "an "
        "Ethernet frame"},
       {"alarm", list_value("COND"),
        "raise an alarm while COND holds, NAME[:SOURCE] OP NUMBER[UNIT], repeatable: 'lost>0' (hits), 'stalled>5s', "
        "'rate:3<100' (hits/s of source 3), 'rate<1e6', 'ring_fill>90%', 'memory>4GiB', 'incomplete_slices>=1' or any "
        "other counter"},
       {"alarm-command", text_value("COMMAND", "", "none"),
        "program with its arguments, run without a shell when an alarm is raised or over; it finds EVENTLOOM_ALARM, "
        "EVENTLOOM_STATE (raised or cleared), EVENTLOOM_VALUE, EVENTLOOM_SOURCE, EVENTLOOM_TIME and EVENTLOOM_RUN in "
        "its environment"}});
}

/// Returns the values of a repeatable option; empty if it was not given.
std::vector<std::string> list_option(const po::variables_map& values, const char* option) {
  return values.count(option) == 0 ? std::vector<std::string>() : values[option].as<std::vector<std::string>>();
}

LiveOptions live_options(const po::variables_map& values) {
  LiveOptions live;
  const auto& mode = values["on-congestion"].as<std::string>();
  if (mode != "block" && mode != "drop") throw UserError("--on-congestion must be block or drop, not '" + mode + "'");
  live.drop_when_full = mode == "drop";
  live.buffer_bytes = bytes_option(values, "live-buffer", 64U << 10, std::uint64_t{1} << 40);
  live.reconnect_seconds = std::chrono::duration<double>(duration_option(values, "reconnect")).count();
  live.record = values["record"].as<std::string>();
  live.keep_recordings = values["resume"].as<bool>();
  return live;
}

std::optional<MonitorSettings> monitor_settings(const po::variables_map& values) {
  const auto& place = values["monitor"].as<std::string>();
  const auto& token_file = values["monitor-token-file"].as<std::string>();
  if (place.empty() && !token_file.empty()) throw UserError("--monitor-token-file needs --monitor");
  if (place.empty()) return std::nullopt;
  auto monitor = parse_monitor_address(place);
  monitor.token_file = token_file;
  return monitor;
}

ViewSettings view_settings(const po::variables_map& values) {
  ViewSettings view;
  const bool quiet = values["quiet"].as<bool>();
  view.progress = quiet ? ProgressStyle::none : parse_progress_style(values["progress"].as<std::string>());
  view.monitor = monitor_settings(values);
  view.alarms = parse_alarm_conditions(list_option(values, "alarm"));
  const auto& command = values["alarm-command"].as<std::string>();
  if (command.empty()) return view;
  if (view.alarms.empty()) throw UserError("--alarm-command needs --alarm, such as --alarm 'lost>0'");
  view.alarm_command = split_command(command, "--alarm-command");
  return view;
}

DetectorOptions detector_options(const po::variables_map& values, const std::vector<std::string>& sources) {
  DetectorOptions detector;
  const auto& file = values["detector"].as<std::string>();
  if (!file.empty()) detector.map = read_detector_map(file);
  for (const auto& text : list_option(values, "group")) detector.groups.push_back(parse_group_option(text));
  for (const auto& text : list_option(values, "dead-time")) {
    detector.dead_times.push_back(parse_dead_time_option(text));
  }
  take_kept_detector(detector, sources);
  return detector;
}

SourceSettings source_settings(const po::variables_map& values) {
  SourceSettings sources;
  sources.uris = list_option(values, "source");
  sources.time_base = time_base_options(values);
  sources.time_origin = values["time-origin"].as<std::string>();
  if (!sources.time_origin.empty()) {
    sources.time_origin = parsed("time-origin", [&] { return utc_text(parse_unix_ns(sources.time_origin)); });
  }
  sources.speed = values["speed"].as<double>();
  if (!(sources.speed >= 0)) throw UserError("--speed must be 0 or more");
  sources.live = live_options(values);
  sources.loops = count_option(values, "loop", 1, 1'000'000'000);
  sources.duration = duration_option(values, "duration");
  sources.epoch_timeout = duration_option(values, "epoch-timeout");
  sources.stall_warning = duration_option(values, "stall-warning");
  return sources;
}

ExchangeSettings exchange_settings(const po::variables_map& values) {
  ExchangeSettings exchange;
  exchange.builders = static_cast<std::uint32_t>(count_option(values, "builders", 0, 100'000));
  exchange.filters = static_cast<std::uint32_t>(count_option(values, "filters", 0, 100'000));
  exchange.schedule.name = values["schedule"].as<std::string>();
  exchange.schedule.slot_ns = slot_option(values);
  check_schedule(exchange.schedule.name, exchange.schedule.slot_ns);
  exchange.ring = ring_options(values);
  exchange.in_flight.slices = static_cast<std::uint32_t>(count_option(values, "slices-in-flight", 1, 10'000));
  exchange.in_flight.transfers = transfers_option(values);
  return exchange;
}

std::optional<ReplyOption> reply_option(const po::variables_map& values) {
  const auto& addresses = values["reply"].as<std::string>();
  const auto bytes = bytes_option(values, "reply-size", kLeastReplyBytes, kMaxDatagramBytes);
  if (!addresses.empty()) return parse_reply_option(addresses, bytes);
  if (values.count("reply-if") != 0) throw UserError("--reply-if needs --reply udp://HOST:PORT");
  return std::nullopt;
}

OutputSettings output_settings(const po::variables_map& values) {
  OutputSettings output;
  output.file = utf8_name(values["output"].as<std::string>(), "output");
  output.runs = parse_define_options(list_option(values, "define"), output.file);
  output.explain = count_option(values, "explain", 0, 1'000'000);
  if (output.explain != 0 && values.count("filter") == 0)
    throw UserError("--explain needs --filter: it says what the terms of filters say");
  for (const auto& text : list_option(values, "also")) add_also_option(text, output);
  output.no_payload = values["no-payload"].as<bool>();
  output.report_json = values["report-json"].as<std::string>();
  output.save_sorted = utf8_name(values["save-sorted"].as<std::string>(), "save-sorted");
  output.parts.compress = static_cast<unsigned>(count_option(values, "compress", 0, 9));
  output.parts.segment_bytes = bytes_option(values, "segment-size", 1, std::uint64_t{1} << 60);
  output.parts.segment_time = duration_option(values, "segment-time");
  output.scratch = values["scratch"].as<std::string>();
  if (const auto& next = values["output-next"].as<std::string>(); !next.empty()) {
    output.next = std::filesystem::weakly_canonical(next).string();
  }
  if (const auto& tap = values["tap"].as<std::string>(); !tap.empty()) output.tap = parse_tap_option(tap);
  output.reply = reply_option(values);
  output.merge = values["merge"].as<bool>();
  output.resume = values["resume"].as<bool>();
  output.force = values["force"].as<bool>();
  return output;
}

FilterCommandOption filter_command(const po::variables_map& values) {
  FilterCommandOption option;
  option.text = values["filter-command"].as<std::string>();
  if (option.text.empty()) return option;
  option.words = split_command(option.text, "--filter-command");
  option.timeout = duration_option(values, "filter-timeout");
  if (option.timeout < std::chrono::milliseconds(100)) throw UserError("--filter-timeout must be 100ms or more");
  return option;
}

BuildingSettings building_settings(const po::variables_map& values, const RunConfig& config) {
  BuildingSettings building;
  for (const auto& run : config.output.runs) building.definitions.push_back(run.define);
  building.per_source = values["per-source"].as<bool>();
  building.filters = list_option(values, "filter");
  building.filter_command = filter_command(values);
  building.reply_if = list_option(values, "reply-if");
  building.histograms = list_option(values, "hist");
  building.from = values["from"].as<std::string>();
  building.to = values["to"].as<std::string>();
  building.detector = detector_options(values, config.sources.uris);
  if (!values["epochs-per-slice"].as<std::string>().empty()) {
    building.epochs_per_slice = count_option(values, "epochs-per-slice", 1, 1U << 28);
  }
  building.overlap = values["overlap"].as<std::string>();
  building.flush_after = duration_option(values, "flush-after");
  return building;
}

/// The new output would replace the run that it repeats: only with --force.
void refuse_to_replace(RunConfig& config) {
  if (!config.output.force) {
    throw UserError("--config '" + config.config_file +
                    "' repeats this run: give the new one its own --output, or --force to replace it");
  }
  config.config_file.clear();
  config.repeats = false;
}

RunConfig to_config(const po::variables_map& values) {
  if (values.count("source") == 0) throw UserError("no source given; use --source URI, see 'eventloom run --help'");
  if (values.count("define") == 0) {
    throw UserError("no event definition given; use --define " + definition_usage());
  }
  RunConfig config;
  config.exchange = exchange_settings(values);
  config.output = output_settings(values);
  config.sources = source_settings(values);
  config.building = building_settings(values, config);
  config.view = view_settings(values);
  config.series = series_settings(values, config.sources, config.output);
  config.stalls = {config.sources.stall_warning, duration_option(values, "stall-timeout"),
                   "finished parts are safe; " + how_to_continue(config.series.has_value())};
  if (config.stalls.warning < std::chrono::milliseconds(100)) throw UserError("--stall-warning must be 100ms or more");
  config.quiet = values["quiet"].as<bool>();
  config.verbose = values["verbose"].as<bool>();
  if (config.quiet && config.verbose) throw UserError("--quiet contradicts --verbose: leave one out");
  config.realtime = values["realtime"].as<bool>();
  if (values.count("config") != 0) config.config_file = values["config"].as<std::string>();
  config.repeats = is_repeatable(config.config_file);
  if (config.repeats && file_key(config.config_file) == file_key(config.output.file)) refuse_to_replace(config);
  return config;
}

/// Describes, for --print-config, the defaults that depend on the clock of the sources, if a recording states it.
std::string in_force_remark(const po::variables_map& values) {
  try {
    const auto config = to_config(values);
    const auto& building = config.building;
    for (const auto& spec : expand_sources(config.sources.uris)) {
      if (is_live(spec.uri)) continue;
      const auto header = open_source(spec, {}, config.sources.time_base)->header();
      const bool numbered = (header.flags & kNumbered) != 0;
      const auto run = interpret(building, {header.base, numbered}, named_groups(building.detector));
      return "# in force: " + in_force(building, run, numbered) + "\n";
    }
  } catch (const std::exception& e) {
    return "# in force: unknown until this is fixed: " + std::string(e.what()) + "\n";
  }
  return "# in force: unknown until the live sources connect\n";
}

/// Reports errors that do not depend on the clock of the run before anything is opened. While the tick is unknown, a
/// length that is too long in the finest ticks may fit others: the default tick must give an error, too.
void require_meaning(const RunConfig& config) {
  const auto groups = named_groups(config.building.detector);
  const auto& given = config.sources.time_base.tick_ps;
  const auto error_with = [&](std::uint64_t tick_ps) -> std::exception_ptr {
    try {
      interpret(config.building, {.base = {tick_ps, kMaxEpochTicks}, .tick_known = given.has_value()}, groups);
      return nullptr;
    } catch (const std::exception&) {
      return std::current_exception();
    }
  };
  const auto error = error_with(given.value_or(1));
  if (error && (given || error_with(TimeBase{}.tick_ps))) std::rethrow_exception(error);
}

}  // namespace

std::optional<RunConfig> parse_run_config(int argc, const char* const* argv) {
  CommandLine line("run",
                   "run --source URI... --define DEF [options]\nBuilds events. Under mpirun its ranks share "
                   "the work; otherwise one process does everything.");
  add_input_options(line.options());
  add_live_options(line.options());
  add_event_options(line.options());
  add_exchange_options(line.options());
  add_output_options(line.options());
  add_watching_options(line.options());
  line.also_read_config([](const std::string& file, const std::set<std::string>& given) {
    return is_repeatable(file) ? std::optional(setup_to_repeat(file, given)) : std::nullopt;
  });
  line.leave_out_of_setup("resume");
  line.leave_out_of_setup("force");
  line.positional("source", -1);
  line.remark(in_force_remark);
  const auto values = line.parse(argc, argv);
  if (!values) return std::nullopt;
  auto config = to_config(*values);
  config.output.setup = line.effective_config(*values);
  require_meaning(config);
  return config;
}

}  // namespace eventloom
