#include "app/run/run_output.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "app/command/commit.hpp"
#include "app/command/shell_word.hpp"
#include "app/observe/utc_text.hpp"
#include "app/run/hit_notes_of_run.hpp"
#include "app/run/run_report.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/log.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/run_format/part_list.hpp"
#include "io/run_format/run_index.hpp"
#include "io/run_output/disk_reserve.hpp"
#include "io/run_output/merge.hpp"
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

/// Writes the manifest of --save-sorted beside its streams.
void write_manifest(const std::string& folder, const RunSetup& setup, const RunResult& result) {
  SortedManifest manifest;
  manifest.base = setup.run.geometry.base;
  manifest.definition = setup.run.events.front().definition->text();
  manifest.overlap = setup.run.events.front().overlap;
  manifest.bin_ticks = histogram_ticks(setup.run);
  manifest.anomalies = result.totals[Metric::anomalies];
  for (const auto& s : setup.sources) {
    manifest.sources.push_back(
        {s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.flags, s.payload.any(), s.text, s.payload_names});
  }
  manifest.detector = setup.detector.kept;
  manifest.files = result.sorted_files;
  manifest.damage = result.sorted_damage;
  std::ranges::sort(manifest.files, {}, &SortedFile::builder);
  std::ranges::stable_sort(manifest.damage, {}, &Damage::first_epoch);
  write_sorted_manifest(folder, manifest);
}

RunRecord describe(const OutputSettings& output, const RunSetup& setup, std::size_t definition,
                   const std::string& began) {
  RunRecord record;
  record.run_number = output.run_number;
  record.run_comment = output.run_comment;
  record.setup = output.setup + "# in force: " + setup.in_force + '\n';
  record.definition = output.runs[definition].define.text;
  record.filters = setup.run.filters;
  if (setup.run.histograms) {
    for (const auto& spec : setup.run.histograms->specs()) record.histograms.push_back(spec.text);
  }
  record.began = began;
  record.command_lines = {command_line_of_process()};
  std::error_code error;  // a deleted folder has no path
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
  record.with_payload = setup.with_payload && !output.no_payload;
  record.numbered = setup.numbered;
  for (const auto& s : setup.sources) {
    record.sources.push_back({s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.text, payload_text(s)});
  }
  record.hits = hit_notes(setup, record.with_payload);
  return record;
}

void write_index(const OutputSettings& output, bool closed) {
  RunIndex index{closed, {}};
  for (const auto& [define, file, also] : output.runs) {
    index.runs.push_back({define.name, std::filesystem::path(file).filename().string(), define.text});
  }
  write_run_index(output.file, index);
}

/// All writers have ended. Removes the next folder if it is empty, and frees the space kept for a full disk.
void leave_next_folder(const OutputSettings& output) {
  if (output.next.empty()) return;
  std::error_code in_use;
  std::filesystem::remove(scratch_folder(output.next, output.file), in_use);
  for (const auto& run : output.runs) free_disk_reserve(run.file);
}

void write_result(const std::string& run_file, const RunResult& result, RunRecord& record) {
  add_commands(record, result.commands);
  record.ended = utc_now();
  // Read by the run that resumes this one.
  if (result.unfinished) return write_run_file(run_file, record, {}, result.statistics);
  record.closed = true;
  record.totals = result.totals;
  write_run_file(run_file, record, result.parts, result.statistics);
  clear_up(run_file, result.parts);
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

std::vector<RunRecord> describe(const OutputSettings& output, const RunSetup& setup) {
  const auto began = utc_now();
  std::vector<RunRecord> records;
  for (std::size_t i = 0; i < output.runs.size(); ++i) records.push_back(describe(output, setup, i, began));
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

void clear_up(const std::string& run_file, const std::vector<PartInfo>& parts) {
  std::set<std::string> names;
  for (const auto& part : parts) names.insert(part.name);
  remove_leftovers(run_file, names);
}

void merge_output(const OutputSettings& output, const std::function<void()>& turn) {
  const Activity activity("merging the part files");
  std::vector<std::pair<std::string, MergedFile>> merged;
  for (const auto& run : output.runs) {
    if (is_merged_file(run.file)) continue;
    log::info("merging the part files of '{}'", run.file);
    merged.emplace_back(run.file, write_merged_file(run.file, run.file, {.with_invocations = true, .turn = turn}));
  }
  for (auto& [file, contents] : merged) {
    contents.publish();
    clear_up(file, {});
  }
}

void begin_output(const OutputSettings& output, const std::string& run_file, const RunRecord& record) {
  const std::filesystem::path file(run_file);
  const bool has_parts = std::filesystem::exists(file.parent_path() / part_list_name(file, 0));
  if (!output.resume && std::filesystem::exists(file) && (has_parts || is_run_index(file))) {
    log::warn("'{}' was interrupted; starting over, as --resume was not given", run_file);
  }
  if (!output.save_sorted.empty()) prepare_sorted_folder(output.save_sorted);
  // The order matters: an interruption leaves the old run unchanged, or the new one without old parts.
  remove_lists(run_file);
  write_run_file(run_file, record, {});
  clear_up(run_file, {});
}

void begin_index(const OutputSettings& output, bool resumes) {
  if (!output.has_index()) return;
  if (resumes) return write_index(output, false);
  remove_lists(output.file);
  write_index(output, false);
  clear_up(output.file, {});
}

void write_results(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results,
                   std::vector<RunRecord>& records, const ExchangeBackend& backend) {
  const bool ends = !results.front().unfinished;
  leave_next_folder(output);
  if (!output.report_json.empty()) write_report_json(output, setup, results, backend);
  if (ends && !output.save_sorted.empty()) write_manifest(output.save_sorted, setup, results.front());
  for (std::size_t i = 0; i < results.size(); ++i) write_result(output.runs[i].file, results[i], records[i]);
  if (!ends || !output.has_index()) return;
  write_index(output, true);
  clear_up(output.file, {});
}

}  // namespace eventloom
