#include "app/run/run_output.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/commit.hpp"
#include "app/monitor/utc_text.hpp"
#include "app/shell_word.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/log.hpp"
#include "io/hdf5/part_list.hpp"
#include "io/hdf5/run_folder.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

namespace {

std::vector<std::string> distinct(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

/// As the system knows it.
std::string command_line_of_process() {
  std::ifstream in("/proc/self/cmdline");
  std::string line;
  for (std::string word; std::getline(in, word, '\0');) {
    if (!line.empty()) line += ' ';
    line += shell_word(word);
  }
  return line;
}

std::string utc_now() { return utc_text(std::chrono::system_clock::now()); }

/// The manifest that --save-sorted writes beside its streams.
void write_manifest(const RunConfig& config, const RunSetup& setup, const RunResult& result) {
  SortedManifest manifest;
  manifest.base = setup.run.geometry.base;
  manifest.definition = setup.run.events->text();
  manifest.overlap = setup.run.geometry.overlap;
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

}  // namespace

RunRecord describe(const RunConfig& config, const RunSetup& setup) {
  RunRecord record;
  record.setup = config.effective + "# in force: " + in_force(config, setup.run.geometry, setup.numbered) + '\n';
  record.definition = config.define;
  record.filters = config.filter;
  record.began = utc_now();
  record.command_lines = {command_line_of_process()};
  record.time_of_tick_0 = setup.time_of_tick_0;
  record.eventloom_version = EVENTLOOM_VERSION;
  record.eventloom_commit = kCommit;
  record.mpi_version = MpiEnvironment::mpi_version();
  record.ucx_version = MpiEnvironment::ucx_version();
  record.hosts = distinct(setup.hosts);
  record.base = setup.run.geometry.base;
  record.epochs_per_slice = setup.run.geometry.epochs_per_slice;
  record.overlap = setup.run.geometry.overlap;
  record.detector = setup.detector.record;
  record.with_payload = setup.with_payload;
  record.numbered = setup.numbered;
  for (const auto& s : setup.sources) {
    record.sources.push_back({s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.text});
  }
  return record;
}

void add_invocations(RunRecord& record, const RunRecord& before) {
  record.began = before.began;
  if (record.time_of_tick_0.empty()) record.time_of_tick_0 = before.time_of_tick_0;
  record.commands = before.commands;
  record.command_lines.insert(record.command_lines.begin(), before.command_lines.begin(), before.command_lines.end());
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
  if (std::filesystem::exists(output) && std::filesystem::exists(output.parent_path() / part_list_name(output, 0))) {
    spdlog::warn("'{}' was interrupted; starting over, as --resume was not given", config.output);
  }
  if (!config.save_sorted.empty()) prepare_sorted_folder(config.save_sorted);
  // In this order: an interruption here leaves the old run unchanged, or the new one without old parts.
  remove_lists(config.output);
  write_run_file(config.output, record, {});
  clear_up(config, {});
}

void write_results(const RunConfig& config, const RunSetup& setup, const RunResult& result, RunRecord& record,
                   const ExchangeBackend& backend) {
  if (!config.report_json.empty()) write_report_json(config, setup, result, backend);
  add_commands(record, result.commands);
  record.ended = utc_now();
  // For the one that resumes the run.
  if (result.unfinished) write_run_file(config.output, record, {}, result.statistics);
  if (result.unfinished) return;
  if (!config.save_sorted.empty()) write_manifest(config, setup, result);
  record.closed = true;
  record.totals = result.totals;
  write_run_file(config.output, record, result.parts, result.statistics);
  clear_up(config, result.parts);
}

}  // namespace eventloom
