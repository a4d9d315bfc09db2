#include "app/run/run_config.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/command/command_line.hpp"
#include "app/command/options.hpp"
#include "app/command/ring_options.hpp"
#include "app/observe/alarm_command.hpp"
#include "core/definitions/definitions.hpp"
#include "core/runtime/error.hpp"
#include "formats/duration_text.hpp"
#include "formats/sorted_hit.hpp"
#include "formats/stream_file.hpp"
#include "formats/units.hpp"
#include "formats/utc_time.hpp"
#include "io/recorded/default_epoch.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

std::string uri_forms(bool live) {
  return list_schemes([live](const SourceScheme& scheme) { return scheme.is_live() == live ? scheme.form : ""; });
}

void add_input_options(po::options_description& options) {
  options.add_options()("source", po::value<std::vector<std::string>>()->value_name("URI")->composing(),
                        ("a source, repeatable: " + uri_forms(false) +
                         "; a glob gives one source per file, with ?concat one in all; live: " + uri_forms(true) +
                         "; all keys: eventloom inspect --schemes")
                            .c_str())("tick", po::value<std::string>()->value_name("TIME"),
                                      "unit of time for imported data (default 1ns)")(
      "epoch", po::value<std::string>()->value_name("TIME"),
      "length of an epoch for imported data (default 10us, 500ns with --tick 1ps; 16 event numbers)")(
      "time-origin", text_value("UTC", "", "what the sources state, if any does"),
      "time of tick 0, for the output: 2026-11-21T10:00:00Z, with up to nine decimals, or with an offset such as "
      "+01:00; "
      "White Rabbit stamps (time=wr) and boards state it themselves")(
      "speed", po::value<double>()->value_name("X")->default_value(0, "0"),
      "replay X times as fast as recorded; 0: as fast as possible")("loop", text_value("N", "1"),
                                                                    "replay .epochs files N times; times continue")(
      "duration", text_value("TIME", "", "none"),
      "end after TIME, counted from the first data of live sources: a run with live sources is complete then, another "
      "can be "
      "resumed");
}

void add_live_options(po::options_description& options) {
  options.add_options()("epoch-timeout", text_value("TIME", "2s"),
                        "a live source that lags behind the others for TIME is given up: slices are "
                        "built without it, flagged incomplete; 0s: never")(
      "on-congestion", text_value("MODE", "block"),
      "when live data arrive faster than they can be built: block, the receivers stop reading; or drop, whole epoch "
      "buffers are dropped and counted")("live-buffer", text_value("BYTES", "256MiB"),
                                         "maximum held per live source until it is built; data being "
                                         "reassembled (one buffer and one event of an MBS server, 80 MiB of "
                                         "fragments of a board), rings and builders add to it")(
      "flush-after", text_value("TIME", "", "none"),
      "longest time that a hit waits for its slice to fill: slices are no longer than that, and where all live sources "
      "have been silent for this time and 1 s, the slice is sent without waiting for further data")(
      "reconnect", text_value("TIME", "", "none"), "how long to search for a lost MBS server")(
      "record", text_value("DIR", "", "none"), "also record live sources, as DIR/source-0000.epochs ...");
}

constexpr const char* kFilterHelp =
    "keep events for which an expression holds; repeatable, all must. Terms: n_hits>=8, duration<500ns, systems>=2 or "
    "sources>=2 (different ones), channel:0x1200-0x12ff>=1, source:3-5>=1, A>=1 (hits of the group A), trigger==3 (of "
    "triggered data), causal(V,DT)>=4 (hits of which each pair has |dt| <= |dr|/V + DT; V in m/ns, or with a unit as "
    "in 0.3m/ns), prescale=10 (one event in 10); compared by >= > <= < == or !=, joined by && || ! and brackets";

void add_event_options(po::options_description& options) {
  const auto define =
      "what an event is, lengths of time in ticks or with a unit; several with names, as in muon=gap:25ns,4, have a "
      "run file each:\n" +
      definition_help();
  options.add_options()("define", po::value<std::vector<std::string>>()->value_name("[NAME=]DEF")->composing(),
                        define.c_str())(
      "filter", po::value<std::vector<std::string>>()->value_name("EXPR")->composing(), kFilterHelp)(
      "explain", po::value<std::string>()->value_name("N")->implicit_value("10")->default_value("0", "none"),
      "at the end of the run, say of its first N events (10 where N is left out) which terms of the filters held")(
      "detector", text_value("MAP.csv", "", "none"),
      "map of the detector: by source and channel, offsets of the times, masks, cuts on the payload, groups, "
      "names and positions; 'eventloom inspect --detector-map' writes a first one")(
      "group", po::value<std::vector<std::string>>()->value_name("NAME=...")->composing(),
      "name a group of channels for conditions: A=source:0-3 or A=channel:0x1200-0x12ff; repeatable")(
      "epochs-per-slice", po::value<std::string>()->value_name("N")->default_value("", "those in 1 ms, at least 100"),
      "epochs built together")("overlap",
                               po::value<std::string>()->value_name("TIME")->default_value(
                                   "", "one epoch, or 20 times the longest length in DEF"),
                               "longest event that is kept whole, in ticks or with a unit");
}

void add_exchange_options(po::options_description& options) {
  options.add_options()("builders", po::value<std::string>()->value_name("N")->default_value("0", "0: one per rank"),
                        "number of builders")(
      "filters", po::value<std::string>()->value_name("N")->default_value("0", "0: builders select and write"),
      "number of filters")(
      "schedule", po::value<std::string>()->value_name("NAME")->default_value("round-robin"),
      "order of transfers: round-robin, chaotic, balanced, table:FILE, unshifted (see schedulers/README.md)")(
      "slot", po::value<std::string>()->value_name("TIME")->default_value("", "none"),
      "length of a round-robin slot, e.g. 50us, kept by synchronised clocks")(
      "slices-in-flight", po::value<std::string>()->value_name("N")->default_value("4"),
      "slices that a builder assembles at a time");
  add_transfers_option(options);
  add_ring_options(options);
}

void add_output_options(po::options_description& options) {
  options.add_options()("output", po::value<std::string>()->value_name("FILE")->default_value("run.h5"),
                        "the run's file; also the prefix of its part files")(
      "also", po::value<std::vector<std::string>>()->value_name("FORMAT:PATH")->composing(),
      "also write the events as list-mode data, as DABC would: lmd:PATH or hld:PATH[?size=BYTES&begin=T,T&end=T,T], "
      "files of at most that size, which begin or end with events of these trigger types, and with the part files; one "
      "of each at most")("no-payload", po::bool_switch(),
                         "leave the payload out of the part files, which halves what is written where --also has it")(
      "compress", po::value<std::string>()->value_name("LEVEL")->default_value("0"), "deflate the output, 1 to 9")(
      "segment-size", po::value<std::string>()->value_name("BYTES")->default_value("1GiB"),
      "bytes after which a writer begins a new part file")(
      "segment-time", po::value<std::string>()->value_name("TIME")->default_value("5min"),
      "maximum age of an unfinished part file: the most that a crash can cost")(
      "scratch", po::value<std::string>()->value_name("DIR")->default_value("", "none"),
      "node-local folder where part files are written before they are copied to the output folder")(
      "resume", po::bool_switch(),
      "resume an interrupted run of the same output; start from the beginning if there is none")(
      "force", po::bool_switch(),
      "replace a finished run of this output; with --resume an interrupted one is still resumed")(
      "report-json", po::value<std::string>()->value_name("FILE")->default_value("", "none"),
      "write the summary as JSON")("save-sorted",
                                   po::value<std::string>()->value_name("DIR")->default_value("", "none"),
                                   "also keep the time-sorted hits with histograms and event tags, as streams that "
                                   "'--source sorted:DIR' reads without sorting or searching again");
}

void add_watching_options(po::options_description& options) {
  options.add_options()("stall-warning", po::value<std::string>()->value_name("TIME")->default_value("10s"),
                        "report a rank that is silent or makes no progress for TIME")(
      "stall-timeout", po::value<std::string>()->value_name("TIME")->default_value("", "none"),
      "end the run, resumable, when a rank is silent or makes no progress for TIME")(
      "progress", text_value("STYLE", "auto"),
      "on standard error: bar; lines, one every 5 s; none; auto: a bar on a terminal, else lines; ranks "
      "under mpirun have no terminal")("quiet", po::bool_switch(), "no progress and no messages but errors")(
      "monitor", text_value("[ADDR:]PORT", "", "none"),
      "serve a page, /status, /metrics and /events/latest over HTTP while the run goes on; ADDR defaults to 127.0.0.1, "
      "PORT 0 takes a free one and says which: anyone who can reach it can read, and steer with the token")(
      "monitor-token-file", text_value("FILE", "", "a new token, printed"), "file with the token to steer the run")(
      "tap", text_value("[mbs://][ADDR:]PORT[/stream|/transport]", "", "none"),
      "serve the events as they are built, as LMD events, to MBS clients such as go4: /stream (the default), a client "
      "requests buffers; /transport, they are pushed. ADDR defaults to 127.0.0.1, PORT 0 takes free ones; builder N, "
      "or filter N where there are filters, takes PORT + N. A client that is too slow loses whole buffers; of several "
      "--define the first is served")(
      "alarm", po::value<std::vector<std::string>>()->value_name("COND")->composing(),
      "raise an alarm while COND holds, NAME[:SOURCE] OP NUMBER[UNIT], repeatable: 'lost>0' (hits), 'stalled>5s', "
      "'rate:3<100' (hits/s of source 3), 'rate<1e6', 'ring_fill>90%', 'memory>4GiB', 'incomplete_slices>=1' or any "
      "other counter")(
      "alarm-command", text_value("COMMAND", "", "none"),
      "program with its arguments, run without a shell when an alarm is raised or over; it finds EVENTLOOM_ALARM, "
      "EVENTLOOM_STATE (raised or cleared), EVENTLOOM_VALUE, EVENTLOOM_SOURCE, EVENTLOOM_TIME and "
      "EVENTLOOM_RUN in its environment");
}

void take_live_options(const po::variables_map& values, RunConfig& config) {
  config.loops = count_option(values, "loop", 1, 1'000'000'000);
  config.duration = duration_option(values, "duration");
  config.epoch_timeout = duration_option(values, "epoch-timeout");
  config.flush_after = duration_option(values, "flush-after");
  const auto& mode = values["on-congestion"].as<std::string>();
  if (mode != "block" && mode != "drop") throw UserError("--on-congestion must be block or drop, not '" + mode + "'");
  config.live.drop_when_full = mode == "drop";
  const auto bytes = parsed("live-buffer", [&] { return parse_bytes(values["live-buffer"].as<std::string>()); });
  config.live.buffer_bytes = in_range<std::uint64_t>("live-buffer", bytes, 64U << 10, std::uint64_t{1} << 40);
  config.live.reconnect_seconds = std::chrono::duration<double>(duration_option(values, "reconnect")).count();
  config.live.record = values["record"].as<std::string>();
}

void take_monitor_options(const po::variables_map& values, RunConfig& config) {
  const auto& place = values["monitor"].as<std::string>();
  const auto& token_file = values["monitor-token-file"].as<std::string>();
  if (place.empty() && !token_file.empty()) throw UserError("--monitor-token-file needs --monitor");
  if (place.empty()) return;
  config.monitor = parse_monitor_address(place);
  config.monitor->token_file = token_file;
}

void take_alarm_options(const po::variables_map& values, RunConfig& config) {
  if (values.count("alarm") != 0)
    config.alarms = parse_alarm_conditions(values["alarm"].as<std::vector<std::string>>());
  const auto& command = values["alarm-command"].as<std::string>();
  if (command.empty()) return;
  if (config.alarms.empty()) throw UserError("--alarm-command needs --alarm, such as --alarm 'lost>0'");
  config.alarm_command = split_alarm_command(command);
}

void take_watching_options(const po::variables_map& values, RunConfig& config) {
  config.segment_time = duration_option(values, "segment-time");
  config.stall_warning = duration_option(values, "stall-warning");
  config.stall_timeout = duration_option(values, "stall-timeout");
  config.scratch = values["scratch"].as<std::string>();
  config.quiet = values["quiet"].as<bool>();
  config.progress = config.quiet ? ProgressStyle::none : parse_progress_style(values["progress"].as<std::string>());
  take_monitor_options(values, config);
  if (const auto& tap = values["tap"].as<std::string>(); !tap.empty()) config.tap = parse_tap_option(tap);
  take_alarm_options(values, config);
  config.resume = values["resume"].as<bool>();
  config.force = values["force"].as<bool>();
  if (values.count("config") != 0) config.config_file = values["config"].as<std::string>();
  if (config.stall_warning < std::chrono::milliseconds(100)) throw UserError("--stall-warning must be 100ms or more");
}

/// Lists of a run's files are JSON, which requires UTF-8.
void require_utf8(const std::string& name, const std::string& option) {
  try {
    static_cast<void>(nlohmann::json(name).dump());
  } catch (const nlohmann::json::type_error&) {
    throw UserError("--" + option + ": '" + name + "' is not UTF-8; choose another name");
  }
}

std::string output_name(const po::variables_map& values, const char* option) {
  auto name = values[option].as<std::string>();
  require_utf8(name, option);
  return name;
}

/// Each definition has list-mode files of its own, as it has a run file.
void add_also(const std::string& text, RunConfig& config) {
  require_utf8(text, "also");
  const auto target = parse_event_target(text, "--also");
  const auto& others = config.define.front().also;
  const auto same = std::ranges::find(others, target.hld, &EventTarget::hld);
  if (same != others.end()) {
    const auto& other = config.also[static_cast<std::size_t>(same - others.begin())];
    throw UserError("--also '" + text + "': '" + other + "' writes files of this format already; omit one of them");
  }
  config.also.push_back(text);
  for (auto& define : config.define) {
    define.also.push_back(target);
    if (!define.name.empty()) define.also.back().stem += "." + define.name;
  }
}

void take_detector_options(const po::variables_map& values, RunConfig& config) {
  const auto& file = values["detector"].as<std::string>();
  if (!file.empty()) config.detector.map = read_detector_map(file);
  if (values.count("group") != 0) {
    for (const auto& text : values["group"].as<std::vector<std::string>>()) {
      config.detector.groups.push_back(parse_group_option(text));
    }
  }
  take_kept_detector(config.detector, config.sources);
}

RunConfig to_config(const po::variables_map& values) {
  RunConfig config;
  if (values.count("source") == 0) throw UserError("no source given; use --source URI, see 'eventloom run --help'");
  if (values.count("define") == 0) {
    throw UserError("no event definition given; use --define " + definition_usage());
  }
  config.sources = values["source"].as<std::vector<std::string>>();
  config.builders = static_cast<std::uint32_t>(count_option(values, "builders", 0, 100'000));
  config.filters = static_cast<std::uint32_t>(count_option(values, "filters", 0, 100'000));
  config.schedule = values["schedule"].as<std::string>();
  config.slot_ns = slot_option(values);
  check_schedule(config.schedule, config.slot_ns);
  config.define = parse_define_options(values["define"].as<std::vector<std::string>>(), output_name(values, "output"));
  if (values.count("filter") != 0) config.filter = values["filter"].as<std::vector<std::string>>();
  config.explain = count_option(values, "explain", 0, 1'000'000);
  if (config.explain != 0 && config.filter.empty())
    throw UserError("--explain needs --filter: it says what the terms of filters say");
  take_detector_options(values, config);
  if (!values["epochs-per-slice"].as<std::string>().empty()) {
    config.epochs_per_slice = count_option(values, "epochs-per-slice", 1, 1U << 28);
  }
  config.overlap = values["overlap"].as<std::string>();
  config.time_base = time_base_options(values);
  config.time_origin = values["time-origin"].as<std::string>();
  if (!config.time_origin.empty()) {
    config.time_origin = parsed("time-origin", [&] { return utc_text(parse_unix_ns(config.time_origin)); });
  }
  config.output = output_name(values, "output");
  if (values.count("also") != 0) {
    for (const auto& text : values["also"].as<std::vector<std::string>>()) add_also(text, config);
  }
  config.no_payload = values["no-payload"].as<bool>();
  config.speed = values["speed"].as<double>();
  if (!(config.speed >= 0)) throw UserError("--speed must be 0 or more");
  config.report_json = values["report-json"].as<std::string>();
  config.save_sorted = output_name(values, "save-sorted");
  config.ring = ring_options(values);
  config.slices_in_flight = static_cast<std::uint32_t>(count_option(values, "slices-in-flight", 1, 10'000));
  config.transfers_in_flight = transfers_option(values);
  config.compress = static_cast<unsigned>(count_option(values, "compress", 0, 9));
  config.segment_bytes = parsed("segment-size", [&] { return parse_bytes(values["segment-size"].as<std::string>()); });
  in_range<std::uint64_t>("segment-size", config.segment_bytes, 1, std::uint64_t{1} << 60);
  take_live_options(values, config);
  take_watching_options(values, config);
  return config;
}

/// For --print-config: defaults that depend on the clock of the sources, where a recording states it.
std::string in_force_remark(const po::variables_map& values) {
  try {
    const auto config = to_config(values);
    for (const auto& spec : expand_sources(config.sources)) {
      if (is_live(spec.uri)) continue;
      const auto header = open_source(spec, {}, config.time_base)->header();
      const bool numbered = (header.flags & kNumbered) != 0;
      return "# in force: " +
             in_force(config, interpret(config, {header.base, numbered}, named_groups(config.detector)), numbered) +
             "\n";
    }
  } catch (const std::exception& e) {
    return "# in force: unknown until this is fixed: " + std::string(e.what()) + "\n";
  }
  return "# in force: unknown until the live sources connect\n";
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
  line.leave_out_of_setup("resume");
  line.leave_out_of_setup("force");
  line.positional("source", -1);
  line.remark(in_force_remark);
  const auto values = line.parse(argc, argv);
  if (!values) return std::nullopt;
  auto config = to_config(*values);
  config.effective = line.effective_config(*values);
  config.live.go_on = config.resume;
  // Errors that do not depend on the clock of the run are reported before anything is opened.
  const TimeBase any{config.time_base.tick_ps.value_or(1), kMaxEpochTicks};
  interpret(config, {.base = any}, named_groups(config.detector));
  return config;
}

Tick histogram_ticks(const RunDefinition& run) {
  return histogram_bin_ticks(run.events.front().definition->traits().bin_ticks, run.geometry.base.epoch_ticks);
}

Tick default_overlap(const EventDefinition& definition, const TimeBase& base) {
  constexpr Tick kLengths = 20;
  const Tick longest = definition.traits().longest_length;
  const Tick most = std::numeric_limits<Tick>::max();
  return std::max<Tick>(base.epoch_ticks, longest > most / kLengths ? most : kLengths * longest);
}

namespace {

std::uint64_t epoch_ps(const TimeBase& base) { return base.tick_ps * base.epoch_ticks; }

/// The greatest width of the corrections to the times of one source.
Tick widest_correction(const Detector& detector) {
  Tick widest = 0;
  for (const auto& span : stream_offsets(detector, false, detector.sources())) widest = std::max(widest, span.width());
  return widest;
}

/// Of the slices, by default. `geometry` has the margins: with those of long events fewer epochs fit a builder.
std::uint64_t default_epochs(SliceGeometry geometry, const RunClock& clock, const Detector& detector) {
  geometry.epochs_per_slice = clock.numbered ? kLeastDefaultEpochs : default_epochs_per_slice(epoch_ps(clock.base));
  const Tick apart = widest_correction(detector);
  while (geometry.epochs_per_slice > kLeastDefaultEpochs && !fits_a_builder(geometry, apart)) {
    geometry.epochs_per_slice = std::max(geometry.epochs_per_slice / 2, kLeastDefaultEpochs);
  }
  return geometry.epochs_per_slice;
}

/// The requested or default length of a slice, in epochs, unless --flush-after makes it shorter.
std::uint64_t chosen_epochs(const RunConfig& config, std::uint64_t wanted, const TimeBase& base) {
  if (config.flush_after.count() <= 0) return wanted;
  const auto epochs = steps_in(static_cast<std::uint64_t>(config.flush_after.count()), epoch_ps(base));
  return std::clamp<std::uint64_t>(epochs, 1, wanted);
}

}  // namespace

RunDefinition interpret(const RunConfig& config, const RunClock& clock, DetectorPtr detector) {
  const auto& base = clock.base;
  RunDefinition run;
  run.detector = std::move(detector);
  for (const auto& define : config.define) {
    const auto given = define.given();
    auto definition = parse_event_definition(given, base.tick_ps, run.detector, given.size() - define.text.size());
    const Tick overlap = config.overlap.empty()
                             ? default_overlap(*definition, base)
                             : parsed("overlap", [&] { return parse_duration(config.overlap, base.tick_ps); });
    run.events.push_back({std::move(definition), overlap});
  }
  run.filter = EventFilter(run.detector);
  for (const auto& expression : config.filter) run.filter.add(expression, base.tick_ps);
  auto& geometry = run.geometry;
  geometry.base = base;
  geometry = widest(geometry, run.events);
  const auto wanted = config.epochs_per_slice.value_or(default_epochs(geometry, clock, *run.detector));
  geometry.epochs_per_slice = chosen_epochs(config, wanted, base);
  run.flushes_early = geometry.epochs_per_slice != wanted;
  return run;
}

std::vector<RunConfig> by_definition(const RunConfig& config) {
  std::vector<RunConfig> all;
  for (const auto& define : config.define) {
    all.push_back(config);
    all.back().define = {define};
    all.back().output = define.output;
  }
  return all;
}

void require_whole_events(const RunConfig& config, const RunDefinition& run) {
  const auto& base = run.geometry.base;
  const auto text = [&](Tick ticks) { return duration_text(ticks, base.tick_ps); };
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    const auto& [definition, overlap, use_tags] = run.events[i];
    const Tick longest = definition->traits().longest_length;
    if (longest <= overlap) continue;
    throw UserError("--define '" + config.define[i].given() + "' spans " + text(longest) + ", longer than --overlap " +
                    text(overlap) + ": every such event would be cut; use --overlap " +
                    text(default_overlap(*definition, base)) + ", or omit --overlap");
  }
}

std::string in_force(const RunConfig& config, const RunDefinition& run, bool numbered) {
  const auto& geometry = run.geometry;
  const auto& base = geometry.base;
  const auto text = [&](Tick ticks) {
    return numbered ? std::to_string(ticks) + " event numbers" : duration_text(ticks, base.tick_ps);
  };
  std::string all = numbered ? "" : "ticks of " + text(1) + ", ";
  all += "epochs of " + text(base.epoch_ticks) + ", slices of " + std::to_string(geometry.epochs_per_slice) +
         " epochs (" + text(geometry.slice_ticks()) + ")";
  if (run.flushes_early) all += " by --flush-after";
  all += ", overlap ";
  for (std::size_t i = 0; i < run.events.size(); ++i) {
    all += (i == 0 ? "" : ", ") + text(run.events[i].overlap);
    if (has_index(config)) all += " (" + config.define[i].name + ")";
  }
  return all;
}

}  // namespace eventloom
