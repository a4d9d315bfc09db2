#include "app/run/series_settings.hpp"

#include <chrono>
#include <filesystem>
#include <vector>

#include "app/command/command_words.hpp"
#include "app/command/options.hpp"
#include "core/runtime/error.hpp"
#include "io/registry/open_sources.hpp"
#include "io/run_format/run_log.hpp"

namespace eventloom {

namespace po = boost::program_options;

namespace {

std::string with_number(std::string text, std::uint64_t number) {
  const std::string place = kRunPlace;
  const auto digits = run_stem(number).substr(run_stem(0).find('0'));
  for (auto at = text.find(place); at != std::string::npos; at = text.find(place, at + digits.size())) {
    text.replace(at, place.size(), digits);
  }
  return text;
}

void require_number(const std::string& name, const char* option) {
  if (name.empty() || name.find(kRunPlace) != std::string::npos) return;
  throw UserError("--" + std::string(option) + " '" + name +
                  "': with --runs, write {run} where the number of the run belongs in the name");
}

void require_files_of_runs(const OutputSettings& output) {
  require_number(output.report_json, "report-json");
  require_number(output.save_sorted, "save-sorted");
  for (const auto& also : output.runs.front().also) require_number(also.given, "also");
}

void require_series(const po::variables_map& values, const SourceSettings& sources, const OutputSettings& output) {
  if (output.file != "run.h5") throw UserError("--runs names the run files itself; omit --output");
  if (values["monitor"].as<std::string>().empty()) {
    throw UserError("--runs needs --monitor, where 'eventloom control' begins and ends runs");
  }
  for (const char* option : {"resume", "force"}) {
    if (values[option].as<bool>()) {
      throw UserError("--" + std::string(option) + " is not possible with --runs: each run has its own number");
    }
  }
  if (!sources.live.record.empty()) {
    throw UserError("--record is not possible with --runs; 'eventloom record' records without a run");
  }
  for (const auto& spec : expand_sources(sources.uris)) {
    if (is_live(spec.uri)) continue;
    throw UserError("'" + spec.uri.text() +
                    "' is a recording: --runs is for live sources, also for files with ?follow");
  }
  require_files_of_runs(output);
}

RunHook hook_option(const po::variables_map& values) {
  RunHook hook;
  const auto& text = values["run-hook"].as<std::string>();
  if (text.empty()) return hook;
  hook.words = split_command(text, "--run-hook");
  hook.words.front() = required_program(hook.words.front(), "--run-hook");
  hook.timeout = duration_option(values, "run-hook-timeout");
  if (hook.timeout < std::chrono::milliseconds(100)) throw UserError("--run-hook-timeout must be 100ms or more");
  return hook;
}

}  // namespace

std::optional<SeriesSettings> series_settings(const po::variables_map& values, const SourceSettings& sources,
                                              const OutputSettings& output) {
  SeriesSettings series;
  series.folder = utf8_name(values["runs"].as<std::string>(), "runs");
  series.starts_idle = values["idle"].as<bool>();
  if (series.folder.empty()) {
    const bool hooks = !values["run-hook"].as<std::string>().empty();
    if (series.starts_idle || hooks)
      throw UserError(std::string(hooks ? "--run-hook" : "--idle") + " needs --runs DIR");
    return std::nullopt;
  }
  require_series(values, sources, output);
  series.hook = hook_option(values);
  return series;
}

OutputSettings output_of_run(const OutputSettings& output, const SeriesSettings& series, std::uint64_t number,
                             const std::string& comment) {
  auto of_run = output;
  of_run.run_number = number;
  of_run.run_comment = comment;
  of_run.file = (std::filesystem::path(series.folder) / (run_stem(number) + ".h5")).string();
  std::vector<std::string> definitions;
  for (const auto& run : output.runs) definitions.push_back(run.define.given());
  of_run.runs = parse_define_options(definitions, of_run.file);
  for (const auto& also : output.runs.front().also) add_also_option(with_number(also.given, number), of_run);
  of_run.report_json = with_number(output.report_json, number);
  of_run.save_sorted = with_number(output.save_sorted, number);
  return of_run;
}

}  // namespace eventloom
