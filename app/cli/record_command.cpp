#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/file_options.hpp"
#include "app/command/options.hpp"
#include "app/command/report_file.hpp"
#include "app/tools/record/recorder.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/stop_signal.hpp"
#include "io/files/folder.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

void add_record_options(po::options_description& options) {
  add_option_rows(
      options,
      {{"source", list_value("URI"), "a live source, repeatable: mbs://, udp:// or trb://; see 'eventloom run --help'"},
       {"output", text_value("DIR"), "folder for the files source_000.000000.epochs, source_000.000001.epochs ..."},
       {"size", text_value("BYTES", "1GB"), "begin another file before one exceeds this size, or a million buffers"},
       {"keep", text_value("BYTES", "", "no limit"),
        "limit for all files together: to make room, the oldest complete file is removed and counted as lost"},
       {"duration", text_value("TIME", "", "none"), "end after TIME, counted from the first data"},
       {"tick", text_value("TIME"), "unit of time (default 1ns)"},
       {"epoch", text_value("TIME"), "length of an epoch, as in the run (default 10us; 16 event numbers)"},
       {"live-buffer", text_value("BYTES", "256MiB"), "maximum held per source while the disk is full or slow"},
       {"reconnect", text_value("TIME", "", "none"), "how long to search for a lost MBS server"},
       {"report-json", text_value("FILE", "", "none"), "write the counters to FILE at the end"}});
}

std::vector<SourceSpec> live_sources(const po::variables_map& values) {
  if (values.count("source") == 0) throw UserError("no source given; see 'eventloom record --help'");
  auto specs = expand_and_compare(values["source"].as<std::vector<std::string>>());
  for (const auto& spec : specs) {
    if (!is_live(spec.uri)) {
      throw UserError("'" + spec.uri.text() + "' is not live: record takes mbs://, udp:// and trb://; use convert");
    }
  }
  return specs;
}

RecorderSettings settings_of_recorder(const po::variables_map& values, std::size_t n_sources) {
  constexpr std::uint64_t kLeast = 4096;
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;
  if (values.count("output") == 0) throw UserError("no output given; use --output DIR");
  RecorderSettings settings;
  settings.folder = values["output"].as<std::string>();
  settings.limits.bytes = bytes_option(values, "size", kLeast, kMost);
  settings.duration = duration_option(values, "duration");
  if (values["keep"].as<std::string>().empty()) return settings;
  // Otherwise the files being written could use it up.
  settings.keep_bytes = bytes_option(values, "keep", 2 * kLeast, kMost);
  if (settings.keep_bytes / 2 / n_sources < settings.limits.bytes) {
    throw UserError("--keep must be at least twice --size for each of the " + std::to_string(n_sources) +
                    " sources; use a larger --keep or a smaller --size");
  }
  return settings;
}

LiveOptions live_options_of(const po::variables_map& values) {
  LiveOptions live;
  live.waits_for_peers = true;
  live.buffer_bytes = bytes_option(values, "live-buffer", 64U << 10, std::uint64_t{1} << 40);
  live.reconnect_seconds = std::chrono::duration<double>(duration_option(values, "reconnect")).count();
  return live;
}

/// Reserves the names of the recorder's files. The recorder itself handles existing ones: it leaves foreign files
/// alone.
void plan_recordings(FilePlan& plan, const RecorderSettings& settings, std::size_t n_sources) {
  const auto is_new_file = [folder = settings.folder, n_sources](const std::string& name) {
    if (is_there(folder / name)) return false;
    for (std::uint32_t s = 0; s < n_sources; ++s) {
      if (name.starts_with(RecordNames({}, s).stem() + ".")) return true;
    }
    return false;
  };
  plan.write_in(settings.folder, "--output", is_new_file, is_nobodys, FilePlan::Existing::keep);
}

}  // namespace

int record_command(int argc, const char* const* argv) {
  CommandLine line("record",
                   "record URI... --output DIR [options]\nWrites what live sources send to numbered files (.epochs), "
                   "which can be read while they grow.\nA recorder that is started again continues. Files before the "
                   "number in DIR/source_000.done are removed.\nEnds with the sources, --duration, SIGINT or SIGTERM; "
                   "exit code 3 when anything was lost.");
  add_record_options(line.options());
  line.positional("source", -1);
  const auto values = line.parse(argc, argv);
  if (!values) return kExitOk;
  const auto specs = live_sources(*values);
  const auto settings = settings_of_recorder(*values, specs.size());
  const auto& report = (*values)["report-json"].as<std::string>();
  FilePlan plan;
  plan_config(plan, *values);
  plan_report(plan, report, "--report-json");
  plan_recordings(plan, settings, specs.size());
  plan.check();
  SourceOpener opener(time_base_options(*values), live_options_of(*values));
  catch_stop_signals();
  Recorder recorder(settings, specs, opener);
  recorder.run();
  recorder.print(std::cout);
  if (!report.empty()) write_report(report, recorder.report().dump(2) + "\n");
  return recorder.is_whole() ? kExitOk : kExitLosses;
}

}  // namespace eventloom
