#include "app/run/run_begin.hpp"

#include <algorithm>

#include "app/run/run_companions.hpp"
#include "app/run/run_files.hpp"
#include "app/run/run_output.hpp"
#include "core/control/agreement.hpp"
#include "io/registry/open_sources.hpp"
#include "io/run_output/disk_reserve.hpp"
#include "io/run_output/run_folder.hpp"

namespace eventloom {

namespace {

InputFiles input_files(const RunConfig& config) {
  return {expand_sources(config.sources.uris), config.exchange.schedule.name, config.config_file};
}

/// Rank 0 only. The list-mode files that the run replaces, checked. Changes nothing.
std::vector<CompanionPlace> checked_companions(const RunConfig& config, const RunSetup& setup,
                                               const std::vector<Resumption>& resumptions) {
  const auto& output = config.output;
  const auto writers = setup.roles.writers();
  check_file_triggers(output, writers);
  std::vector<CompanionPlace> companions;
  for (std::size_t i = 0; i < output.runs.size(); ++i) {
    if (!resumptions[i].resumes) companions.emplace_back(output.runs[i], output.force, setup.event_files, writers);
  }
  if (output.has_companions()) check_companions(input_files(config), output, companions);
  return companions;
}

/// Rank 0 only. Replaces existing outputs, except those of definitions whose run is resumed.
void begin_outputs(const OutputSettings& output, const std::vector<RunRecord>& records,
                   const std::vector<Resumption>& resumptions, const std::vector<CompanionPlace>& companions) {
  for (std::size_t i = 0; i < output.runs.size(); ++i) {
    if (!resumptions[i].resumes) begin_output(output, output.runs[i].file, records[i]);
  }
  for (const auto& place : companions) place.clear();
  begin_index(output, any_resumes(resumptions));
}

}  // namespace

void continue_from(const std::vector<Resumption>& resumptions, RunSetup& setup, std::vector<RunRecord>& records) {
  SliceId end;
  for (std::size_t i = 0; i < resumptions.size(); ++i) {
    if (!resumptions[i].resumes) continue;
    add_invocations(records[i], resumptions[i].before);
    end = std::max(end, resumptions[i].finished.end());
  }
  if (setup.all_live && !setup.any_followed) {
    // Data that live sources sent meanwhile are lost; data received are not.
    setup.first_slice = std::max(first_slice_with_data(setup), end);
    return;
  }
  setup.finished = finished_in_all(resumptions);
  setup.first_slice = std::max(setup.first_slice, setup.finished.frontier());
}

void prepare_output(const RunConfig& config, const RunSetup& setup, const std::vector<RunRecord>& records,
                    const std::vector<Resumption>& resumptions, const Collective& ranks) {
  const auto& output = config.output;
  const bool first = ranks.rank() == 0;
  std::vector<CompanionPlace> companions;
  agree(ranks, [&] {
    if (first) companions = checked_companions(config, setup, resumptions);
  });
  agree(ranks, [&] {
    for (const auto& run : output.runs) {
      if (!output.scratch.empty()) prepare_scratch(scratch_folder(output.scratch, output.file), run.file);
      if (first && !output.next.empty()) prepare_next_folder(scratch_folder(output.next, output.file), run.file);
    }
  });
  agree(ranks, [&] {
    if (!first) return;
    begin_outputs(output, records, resumptions, companions);
    if (output.next.empty()) return;
    for (const auto& run : output.runs) take_disk_reserve(run.file);
  });
}

OutputLocks lock_outputs(const RunConfig& config, const Collective& ranks) {
  OutputLocks locks;
  agree(ranks, [&] {
    if (ranks.rank() != 0) return;
    locks.push_back(std::make_unique<OutputLock>(config.output.file));
    for (const auto& run : config.output.runs) {
      if (!run.define.name.empty()) locks.push_back(std::make_unique<OutputLock>(run.file));
    }
    check_run_files(input_files(config), config.output, config.sources.live.record);
  });
  return locks;
}

void choose_by_what_is_there(RunConfig& config, const Collective& ranks) {
  config.output.resume = config.sources.live.keep_recordings = !all_complete(find_complete_runs(config.output, ranks));
}

}  // namespace eventloom
