#include "app/run/run_output.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "app/command/commit.hpp"
#include "app/command/shell_word.hpp"
#include "app/observe/utc_text.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/log.hpp"
#include "io/run_format/part_list.hpp"
#include "io/run_format/run_index.hpp"
#include "io/run_output/run_file_writer.hpp"
#include "io/run_output/run_folder.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

namespace {

std::vector<std::string> distinct(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string utc_now() { return utc_text(std::chrono::system_clock::now()); }

/// The manifest that --save-sorted writes beside its streams.
void write_manifest(const RunConfig& config, const RunSetup& setup, const RunResult& result) {
  SortedManifest manifest;
  manifest.base = setup.run.geometry.base;
  manifest.definition = setup.run.events.front().definition->text();
  manifest.overlap = setup.run.events.front().overlap;
  manifest.bin_ticks = histogram_ticks(setup.run);
  manifest.anomalies = result.totals[Metric::anomalies];
  for (const auto& s : setup.sources) {
    manifest.sources.push_back(
        {s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.flags, s.payload.any(), s.text});
  }
  manifest.detector = setup.detector.kept;
  manifest.files = result.sorted_files;
  manifest.damage = result.sorted_damage;
  std::ranges::sort(manifest.files, {}, &SortedFile::builder);
  std::ranges::stable_sort(manifest.damage, {}, &Damage::first_epoch);
  write_sorted_manifest(config.save_sorted, manifest);
}

RunRecord describe(const RunConfig& config, const RunSetup& setup, std::size_t definition, const std::string& began) {
  RunRecord record;
  record.setup = config.effective + "# in force: " + in_force(config, setup) + '\n';
  record.definition = config.define[definition].text;
  record.filters = config.filter;
  record.began = began;
  record.command_lines = {command_line_of_process()};
  std::error_code error;  // a folder that is gone has no path
  record.folders = {std::filesystem::current_path(error).string()};
  record.time_of_tick_0 = setup.time_of_tick_0;
  record.eventloom_version = EVENTLOOM_VERSION;
  record.eventloom_commit = kCommit;
  record.mpi_version = MpiEnvironment::mpi_version();
  record.ucx_version = MpiEnvironment::ucx_version();
  record.hosts = distinct(setup.hosts);
  record.base = setup.run.geometry.base;
  record.epochs_per_slice = setup.run.geometry.epochs_per_slice;
  record.overlap = setup.run.events[definition].overlap;
  record.detector = setup.detector.record;
  record.with_payload = setup.with_payload && !config.no_payload;
  record.numbered = setup.numbered;
  for (const auto& s : setup.sources) {
    record.sources.push_back({s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.text});
  }
  return record;
}

void write_index(const RunConfig& config, bool closed) {
  RunIndex index{closed, {}};
  for (const auto& define : config.define) {
    index.runs.push_back({define.name, std::filesystem::path(define.output).filename().string(), define.text});
  }
  write_run_index(config.output, index);
}

/// Of one definition.
void write_result(const RunConfig& config, const RunResult& result, RunRecord& record) {
  add_commands(record, result.commands);
  record.ended = utc_now();
  // For the one that resumes the run.
  if (result.unfinished) return write_run_file(config.output, record, {}, result.statistics);
  record.closed = true;
  record.totals = result.totals;
  write_run_file(config.output, record, result.parts, result.statistics);
  clear_up(config, result.parts);
}

}  // namespace

std::string command_line_of_process() {
  std::ifstream in("/proc/self/cmdline");
  std::string line;
  for (std::string word; std::getline(in, word, '\0');) {
    if (!line.empty()) line += ' ';
    line += shell_word(word);
  }
  return line;
}

std::vector<RunRecord> describe(const RunConfig& config, const RunSetup& setup) {
  const auto began = utc_now();
  std::vector<RunRecord> records;
  for (std::size_t i = 0; i < config.define.size(); ++i) records.push_back(describe(config, setup, i, began));
  return records;
}

void add_invocations(RunRecord& record, const RunRecord& before) {
  record.began = before.began;
  if (record.time_of_tick_0.empty()) record.time_of_tick_0 = before.time_of_tick_0;
  record.commands = before.commands;
  record.command_lines.insert(record.command_lines.begin(), before.command_lines.begin(), before.command_lines.end());
  record.folders.insert(record.folders.begin(), before.folders.begin(), before.folders.end());
  record.hosts.insert(record.hosts.end(), before.hosts.begin(), before.hosts.end());
  record.hosts = distinct(std::move(record.hosts));
}

void add_commands(RunRecord& record, const std::vector<CommandRecord>& commands) {
  for (const auto& command : commands) {
    record.commands.push_back(command.time + " " + command.command + " from " + command.from);
  }
}

void clear_up(const RunConfig& config, const std::vector<PartInfo>& parts) {
  std::set<std::string> names;
  for (const auto& part : parts) names.insert(part.name);
  remove_leftovers(config.output, names);
}

void begin_output(const RunConfig& config, const RunRecord& record) {
  const std::filesystem::path output(config.output);
  const bool has_parts = std::filesystem::exists(output.parent_path() / part_list_name(output, 0));
  if (std::filesystem::exists(output) && (has_parts || is_run_index(output))) {
    spdlog::warn("'{}' was interrupted; starting over, as --resume was not given", config.output);
  }
  if (!config.save_sorted.empty()) prepare_sorted_folder(config.save_sorted);
  // In this order: an interruption here leaves the old run unchanged, or the new one without old parts.
  remove_lists(config.output);
  write_run_file(config.output, record, {});
  clear_up(config, {});
}

void begin_index(const RunConfig& config) {
  if (!has_index(config)) return;
  remove_lists(config.output);
  write_index(config, false);
  clear_up(config, {});
}

void write_results(const RunConfig& config, const RunSetup& setup, const std::vector<RunResult>& results,
                   std::vector<RunRecord>& records, const ExchangeBackend& backend) {
  const bool ends = !results.front().unfinished;
  if (!config.report_json.empty()) write_report_json(config, setup, results, backend);
  if (ends && !config.save_sorted.empty()) write_manifest(config, setup, results.front());
  const auto configs = by_definition(config);
  for (std::size_t i = 0; i < configs.size(); ++i) write_result(configs[i], results[i], records[i]);
  if (!ends || !has_index(config)) return;
  write_index(config, true);
  clear_up(config, {});
}

}  // namespace eventloom
