#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <string_view>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/tools/send/generate_live.hpp"
#include "app/tools/send/generate_recording.hpp"
#include "app/tools/send/sending_options.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/stop_signal.hpp"
#include "formats/units.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/durable.hpp"
#include "io/files/partial_file.hpp"
#include "io/generator/point_process.hpp"
#include "io/recorded/default_epoch.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

void add_generate_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"output", text_value("DIR"), "folder for the streams and the truth"},
       {"sources", text_value("N", "4"), "number of streams"},
       {"rate", text_value("N", "1e5"), "events per second"},
       {"timing", text_value("NAME", "poisson"), "of the events: static, gaussian, poisson or burst"},
       {"hits", text_value("N", "8"), "mean number of hits of an event, distributed randomly over the sources"},
       {"width", text_value("TIME", "50ns"),
        "length of an event, over which its hits are spread uniformly; ticks or with a unit"},
       {"noise", text_value("N", "1e5"), "hits per second and source that belong to no event"},
       {"channels", text_value("N", "1024"), "channels of a source"},
       {"payload", text_value("N", "0"), "payload words of a hit"},
       {"duration", text_value("TIME", "100ms"), "length of the recording, with a unit"},
       {"seed", text_value("N", "1"), "the same seed gives the same files"},
       {"tick", text_value("TIME"), "unit of time (default 1ns)"},
       {"epoch", text_value("TIME"), "length of an epoch (default 10us; 500ns with --tick 1ps)"},
       {"epochs-per-buffer", text_value("N", "16"), "an epoch buffer never spans a multiple of this many epochs"},
       {"force", po::bool_switch(), "overwrite existing files"},
       {"live", po::bool_switch(),
        "send the streams over UDP as they are made, in real time; with --output write them as well. A duration of 0 "
        "continues until a signal"}});
  add_sending_options(options);
}

/// Options that do not affect the contents of the streams.
constexpr std::array<std::string_view, 7> kNotContents = {"output ",      "force ",    "live ",   "to ",
                                                          "flush-after ", "datagram ", "session "};

/// Returns the options that determine the contents of the streams, in one line.
std::string describe(const std::string& config) {
  std::istringstream lines(config);
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    if (std::ranges::any_of(kNotContents, [&](auto name) { return line.starts_with(name); })) continue;
    text += (text.empty() ? "" : "; ") + line;
  }
  return text;
}

std::string timing_option(const po::variables_map& values) {
  const auto& name = values["timing"].as<std::string>();
  try {
    PointProcess(name, 1);
  } catch (const UserError& e) {
    throw UserError("--timing: " + std::string(e.what()));
  }
  return name;
}

GenerateSettings to_settings(const po::variables_map& values) {
  constexpr std::uint64_t kMany = 1'000'000'000'000;
  GenerateSettings s;
  const bool live = values["live"].as<bool>();
  if (values.count("output") != 0) {
    s.output = values["output"].as<std::string>();
  } else if (!live) {
    throw UserError("no folder given; use --output DIR");
  }
  if (!live && values.count("to") != 0) throw UserError("--to needs --live");
  const auto base = time_base_options(values);
  s.base.tick_ps = base.tick_ps.value_or(s.base.tick_ps);
  s.base.epoch_ticks = base.epoch_ticks.value_or(default_epoch_ticks(s.base.tick_ps));
  s.sources = static_cast<std::uint32_t>(count_option(values, "sources", 1, 1000));
  s.rate = count_option(values, "rate", 1, kMany);
  s.timing = timing_option(values);
  s.hits = count_option(values, "hits", 1, 500);
  s.noise = count_option(values, "noise", 0, kMany);
  s.channels = static_cast<std::uint32_t>(count_option(values, "channels", 1, 65536));
  s.payload = static_cast<std::uint8_t>(count_option(values, "payload", 0, 254));
  s.seed = count_option(values, "seed", 0, ~0ULL);
  s.epochs_per_buffer = static_cast<std::uint32_t>(count_option(values, "epochs-per-buffer", 1, 1'000'000));
  s.width = parsed("width", [&] { return parse_duration(values["width"].as<std::string>(), s.base.tick_ps); });
  s.duration = parsed("duration", [&] { return parse_duration(values["duration"].as<std::string>(), s.base.tick_ps); });
  if (live && s.duration == 0) s.duration = std::numeric_limits<Tick>::max();
  return s;
}

constexpr const char* kTruth = "eventloom-truth";

bool is_truth_json(const std::filesystem::path& file) { return is_json_of(file, kTruth); }

/// Creates the folder once all checks have passed.
void prepare_folder(const GenerateSettings& settings, const po::variables_map& values) {
  std::error_code error;
  const bool try_out = std::filesystem::is_directory(settings.output, error);
  FilePlan plan;
  plan_config(plan, values);
  const auto existing = existing_option(values);
  for (std::uint32_t s = 0; s < settings.sources; ++s) {
    plan.write(stream_path(settings, s), "--output", is_stream_file, existing, try_out);
  }
  plan.write(truth_csv_path(settings), "--output", is_truth_csv, existing, try_out);
  plan.write(truth_json_path(settings), "--output", is_truth_json, existing, try_out);
  plan.check();
  // A glob over the folder would include this file in the recording.
  const auto beyond = stream_path(settings, settings.sources);
  if (std::filesystem::exists(beyond, error)) {
    throw UserError("'" + beyond + "' belongs to a recording with more sources; remove it or choose another folder");
  }
  create_folder_durably(settings.output);
}

void write_truth(const GenerateSettings& settings, Tick duration, const GenerateResult& result) {
  Json json;
  json["format"] = kTruth;
  json["setup"] = settings.text;
  json["tick_ps"] = settings.base.tick_ps;
  json["epoch_ticks"] = settings.base.epoch_ticks;
  json["duration_ticks"] = duration.value;
  json["events"] = result.events;
  json["hits_in_events"] = result.event_hits;
  json["hits"] = std::accumulate(result.hits.begin(), result.hits.end(), std::uint64_t{0});
  json["hits_by_source"] = result.hits;
  write_text_file(truth_json_path(settings), json.dump(2) + "\n", is_truth_json);
}

/// Returns once everything is on disk.
void finish(const GenerateSettings& settings, Tick duration, const GenerateResult& result) {
  write_truth(settings, duration, result);
  std::cout << result.events << " events with " << result.event_hits << " hits, "
            << std::accumulate(result.hits.begin(), result.hits.end(), std::uint64_t{0}) << " hits in all, in "
            << settings.sources << " streams of " << result.bytes << " bytes\noutput: " << settings.output << '\n';
}

void generate_live(const GenerateSettings& settings, const LiveSenderSettings& sending) {
  catch_stop_signals();
  std::optional<RecordingWriter> writer;
  if (!settings.output.empty()) writer.emplace(settings);
  const Tick flush_after(steps_in(static_cast<std::uint64_t>(sending.flush_after_ns), settings.base.tick_ps));
  LiveGenerator generator(settings, flush_after, writer ? &*writer : nullptr);
  std::vector<std::unique_ptr<PacedStream>> streams;
  for (std::uint32_t s = 0; s < settings.sources; ++s) {
    streams.push_back(std::make_unique<GeneratedStream>(generator, settings, s));
  }
  print_sent(LiveSender(sending, std::move(streams)).run(asked_to_stop), std::cout);
  if (writer) finish(settings, generator.duration(), writer->finish());
}

}  // namespace

int generate_command(int argc, const char* const* argv) {
  CommandLine line(
      "generate",
      "generate --output DIR [options]\nWrites recorded streams with known events, and the truth beside them "
      "(truth.csv, truth.json); with --live --to udp://HOST:PORT sends them.");
  add_generate_options(line.options());
  line.positional("output", 1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  auto settings = to_settings(*values);
  settings.text = describe(line.effective_config(*values));
  const bool live = (*values)["live"].as<bool>();
  const auto sending = live ? sending_options(*values, settings.sources) : LiveSenderSettings{};
  if (!settings.output.empty()) prepare_folder(settings, *values);
  if (live) {
    generate_live(settings, sending);
  } else {
    finish(settings, settings.duration, generate(settings));
  }
  return kExitOk;
}

}  // namespace eventloom
