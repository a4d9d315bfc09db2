#include "app/run/run_files.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/command/file_options.hpp"
#include "app/command/report_file.hpp"
#include "io/epochs/stream_writer.hpp"
#include "io/files/output_lock.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/live/feed_recording.hpp"
#include "io/registry/open_sources.hpp"
#include "io/registry/registry.hpp"
#include "io/run_format/run_index.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_output/run_folder.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;
using Existing = FilePlan::Existing;

void plan_inputs(FilePlan& plan, const InputFiles& inputs) {
  for (const auto& spec : inputs.sources) {
    for (const auto& file : files_of(spec)) plan.read(file, "the source");
  }
  if (!inputs.config_file.empty()) plan.read(inputs.config_file, "--config");
  plan_schedule(plan, inputs.schedule);
}

bool was_live(const RunFile& run) {
  return std::ranges::any_of(run.record.sources, [](const SourceRecord& source) {
    const auto* scheme = find_scheme(source.uri.substr(0, source.uri.find(':')));
    return scheme != nullptr && scheme->is_live();  // followed files can be read again
  });
}

/// Whether it is a run file, perhaps merged, or the index of several.
bool is_of_output(const fs::path& file) { return is_run_file(file) || is_run_index(file) || is_merged_file(file); }

/// Recognises the files of a run apart from its parts: a merged file may have the name of the run file.
bool is_of_run_or_merged(const fs::path& file) { return is_of_run(file) || is_merged_file(file); }

/// Whether the files of an earlier run of `file` may be replaced.
bool gives_way(const std::string& file, const OutputSettings& output) {
  if (output.force) return true;
  if (!is_of_output(file)) return false;
  if (output.resume) return true;
  if (is_run_index(file)) return !read_run_index(file).closed;
  if (is_merged_file(file)) return false;
  const auto run = read_run_file(file);
  return !run.record.closed && !was_live(run);
}

/// Keeps the hits of a finished run. A resumed run replaces its own: it may have been stopped just before its end.
Existing existing_sorted(const OutputSettings& output) {
  const bool of_this_run = output.resume && is_of_output(output.file);
  return output.force || of_this_run || !has_sorted_hits(output.save_sorted) ? Existing::replace : Existing::keep;
}

bool is_any_file(const fs::path&) { return true; }

/// `file`: run file or index.
void plan_output(FilePlan& plan, const std::string& file, const OutputSettings& settings) {
  const auto existing = gives_way(file, settings) ? Existing::replace : Existing::keep;
  const fs::path output(file);
  plan.write(output, "--output", is_of_output, existing, false);
  plan.write(OutputLock::place_for(output), "--output", OutputLock::is_lock, Existing::replace, false);
  // The longest possible name.
  plan.write(output.parent_path() / part_name(output, 9999, 9999), "--output", is_part_file, existing);
  // A damaged part may be unrecognisable.
  const bool resumes = settings.resume && (is_run_file(output) || is_merged_file(output));
  const auto is_part = [output](const std::string& name) { return is_name_of_part(output, name); };
  plan.write_in(output.parent_path(), "--output", is_part, resumes ? is_any_file : is_of_run, existing);
  const auto is_place = [stem = output.stem().string()](const std::string& name) { return is_place_of(stem, name); };
  plan.write_in(
      output.parent_path(), "--output",
      [=](const std::string& name) { return is_name_of_run(output, name) && !is_part(name) && !is_place(name); },
      is_of_run_or_merged, existing);
  for (const auto& [elsewhere, option] : {std::pair(settings.scratch, "--scratch"), {settings.next, "--output-next"}}) {
    if (elsewhere.empty()) continue;
    plan.write_in(scratch_folder(elsewhere, settings.file), option, is_part, resumes ? is_any_file : is_of_run,
                  Existing::replace);
  }
  // A run that died before it had a run file leaves nothing else.
  plan.write_in(output.parent_path(), "--output", is_place, is_of_run, Existing::replace);
}

/// Checks that list-mode files can be written, using a name longer than any that will occur.
void try_companions(FilePlan& plan, const DefinitionOutput& output) {
  constexpr std::uint32_t kHighestWriter = 9999;
  for (const auto& [given, target] : output.also) {
    const auto format = make_event_format(target_of_writer(target, kHighestWriter, kHighestWriter + 1), {});
    plan.write(target.folder / format->file_name(0), "--also", format->ours(), Existing::replace);
  }
}

void plan_outputs(FilePlan& plan, const OutputSettings& output, const std::string& recordings) {
  if (output.has_index()) plan_output(plan, output.file, output);
  for (const auto& run : output.runs) plan_output(plan, run.file, output);
  for (const auto& run : output.runs) try_companions(plan, run);
  plan_report(plan, output.report_json, "--report-json");
  if (!recordings.empty()) {
    plan.write_in(recordings, "--record", is_recording_name, is_stream_file, Existing::replace);
  }
  if (output.save_sorted.empty()) return;
  plan.write_in(output.save_sorted, "--save-sorted", is_sorted_name, is_sorted_file, existing_sorted(output));
}

}  // namespace

void check_run_files(const InputFiles& inputs, const OutputSettings& output, const std::string& recordings) {
  FilePlan plan;
  plan_inputs(plan, inputs);
  plan_outputs(plan, output, recordings);
  plan.check();
  for (const auto& run : output.runs) refuse_parts_of_others(run.file);
}

void check_companions(const InputFiles& inputs, const OutputSettings& output,
                      const std::vector<CompanionPlace>& places) {
  FilePlan plan;
  plan_inputs(plan, inputs);
  plan.write(output.file, "--output", is_of_output, Existing::replace, false);
  plan_report(plan, output.report_json, "--report-json");
  for (const auto& place : places) place.plan(plan);
  plan.check();
}

}  // namespace eventloom
