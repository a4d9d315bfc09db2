#include "app/run/run_companions.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/own_file.hpp"
#include "io/files/partial_file.hpp"
#include "io/run_input/run_events.hpp"
#include "io/run_input/run_file.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// Number of file names checked before a run begins: in total, and at least per writer.
constexpr std::uint32_t kListedFiles = 1000;
constexpr std::uint32_t kListedOfWriter = 20;
/// File names checked per unfinished part. A part exceeds this only if a single slice needs more files.
constexpr std::uint32_t kUnfinishedFiles = 1000;

/// Adds the names of `n` files, beginning with number `first`.
void add_names(const EventTarget& target, const EventFileRun& run, std::uint32_t first, std::uint32_t n,
               std::set<std::string>& names) {
  const auto format = make_event_format(target, run);
  for (std::uint32_t i = 0; i < n; ++i) names.insert(format->file_name(first + i));
}

Recognise recogniser_of(const EventTarget& target) { return make_event_format(target, {})->ours(); }

std::string without_partial(const std::string& name) {
  return name.ends_with(kPartial) ? name.substr(0, name.size() - std::string_view(kPartial).size()) : name;
}

/// Removes a file written by Eventloom, or an empty unfinished one; leaves any other file alone.
void remove_if_ours(const fs::path& file, Recognise is_ours) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) return;
  if (file.extension() == kPartial) {
    if (is_ours(file) || fs::file_size(file, error) == 0) remove_leftover(file, is_ours);
  } else if (is_ours(file)) {
    remove_own(file, is_ours);
  }
}

struct EarlierRun {
  RunRecord record;
  FinishedWork work;  ///< has no writers if that run has ended
};

/// Returns the earlier run of this output, or nothing if none can be read.
std::optional<EarlierRun> earlier_run(const std::string& run_file) {
  if (!is_there(run_file)) return std::nullopt;
  try {
    auto run = read_run_or_merged(run_file);
    EarlierRun earlier{std::move(run.record), {}};
    if (!earlier.record.closed) earlier.work = read_finished_work(run_file);
    for (auto& part : run.parts) earlier.work.parts.push_back({std::move(part), {}, {}});
    if (run.merged) earlier.work.parts.emplace_back().info.event_files = std::move(run.event_files);
    return earlier;
  } catch (const UserError&) {
    return std::nullopt;
  }
}

/// Adds the names that writers of an interrupted run may have begun, whether it had one writer or several.
void add_unfinished(const EventTarget& target, const EventFileRun& run, const FinishedWork& work,
                    std::set<std::string>& names) {
  for (const auto& [writer, place] : work.writers) {
    const auto found = place.next_files.find(target.extension());
    const auto next = found == place.next_files.end() ? 0 : found->second;
    add_names(target, run, next, kUnfinishedFiles, names);
    add_names(target_of_writer(target, writer, 2), run, next, kUnfinishedFiles, names);
  }
}

std::set<std::string> names_beside(const PartInfo& part, const EventTarget& target) {
  std::set<std::string> names;
  for (const auto& file : part.event_files) {
    const auto name = fs::path(file.name).filename();  // the list is untrusted
    if (name.extension() == target.extension()) names.insert(name.string());
  }
  return names;
}

/// Gives a file of a finished part its final name, if it lacks it. Returns whether the file exists.
bool finish_renaming(const fs::path& place, Recognise is_ours) {
  const fs::path partial = place.string() + kPartial;
  if (is_there(partial)) {
    refuse_foreign(partial, is_ours);
    if (rename_to_free_name(partial, place)) return true;
    throw UserError(fmt::format("'{}' has the name of an output, which is in '{}'; move it away", place.string(),
                                partial.string()));
  }
  return is_there(place);
}

void report_missing(const std::vector<fs::path>& missing) {
  if (missing.empty()) return;
  const auto more = missing.size() == 1 ? "" : fmt::format(" and {} more", missing.size() - 1);
  log::warn("'{}'{}: finished, but no longer there; not written again", missing.front().string(), more);
}

void discard(const fs::path& place, Recognise is_ours) {
  if (is_there(place)) {
    log::warn("'{}' is removed: the events of its damaged part are built again", place.string());
  }
  remove_if_ours(place, is_ours);
  remove_if_ours(place.string() + kPartial, is_ours);
}

void remove_unfinished(const EventTarget& target, const std::set<std::string>& names) {
  for (const auto& file : entries_in(target.folder)) {
    const auto name = file.filename().string();
    if (name.ends_with(kPartial) && names.contains(without_partial(name))) remove_if_ours(file, recogniser_of(target));
  }
}

void take_up_output(const EventTarget& target, const EventFileRun& run, const FinishedWork& work,
                    const DamagedParts& damaged) {
  std::vector<fs::path> missing;
  for (const auto& part : work.parts) {
    for (const auto& name : names_beside(part.info, target)) {
      const auto place = target.folder / name;
      if (damaged.contains(part.info.name)) {
        discard(place, recogniser_of(target));
      } else if (!finish_renaming(place, recogniser_of(target))) {
        missing.push_back(place);
      }
    }
  }
  report_missing(missing);
  std::set<std::string> names;
  add_unfinished(target, run, work, names);
  remove_unfinished(target, names);
}

}  // namespace

EventFileRun agreed_event_file_run(const RunRecord& record, const Collective& ranks) {
  RunRecord agreed = record;
  agreed.began = ranks.broadcast(record.began);
  agreed.time_of_tick_0 = ranks.broadcast(record.time_of_tick_0);
  return event_file_run(agreed);
}

void check_file_triggers(const OutputSettings& output, std::uint32_t writers) {
  if (writers == 1) return;
  for (const auto& [given, target] : output.runs.front().also) {
    if (target.triggers.empty()) continue;
    throw UserError(
        fmt::format("--also '{}': begin= and end= need the events of all writers in one order; use "
                    "--builders 1 --filters 0, or 'eventloom merge --to' after the run",
                    given));
  }
}

CompanionPlace::CompanionPlace(const DefinitionOutput& output, bool force, const EventFileRun& run,
                               std::uint32_t writers)
    : force_(force) {
  for (const auto& [given, target] : output.also) {
    Output files{target, {}, {}, {}};
    const auto n = std::max(kListedFiles / writers, kListedOfWriter);
    for (std::uint32_t w = 0; w < writers; ++w) add_names(target_of_writer(target, w, writers), run, 0, n, files.names);
    outputs_.push_back(std::move(files));
  }
  add_earlier(output);
}

/// Considers only outputs that both runs have.
void CompanionPlace::add_earlier(const DefinitionOutput& output) {
  const auto run = outputs_.empty() ? std::nullopt : earlier_run(output.file);
  if (!run) return;
  const auto before = setup_options(run->record, "also");
  const auto stated = event_file_run(run->record);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (std::ranges::find(before, output.also[i].given) == before.end()) continue;
    auto& files = outputs_[i];
    for (const auto& part : run->work.parts) files.earlier.merge(names_beside(part.info, files.target));
    add_unfinished(files.target, stated, run->work, files.unfinished);
  }
}

void CompanionPlace::plan(FilePlan& plan) const {
  const auto existing = force_ ? FilePlan::Existing::replace : FilePlan::Existing::keep;
  for (const auto& output : outputs_) {
    const auto is_planned = [&output](const std::string& name) {
      const auto final_name = without_partial(name);
      return output.names.contains(final_name) && !output.earlier.contains(final_name);
    };
    plan.write_in(output.target.folder, "--also", is_planned, recogniser_of(output.target), existing);
  }
}

void CompanionPlace::clear() const {
  for (const auto& [target, names, earlier, unfinished] : outputs_) {
    for (const auto& file : entries_in(target.folder)) {
      const auto name = file.filename().string();
      const auto final_name = without_partial(name);
      const bool begun = name != final_name && unfinished.contains(final_name);
      if (begun || names.contains(final_name) || earlier.contains(final_name))
        remove_if_ours(file, recogniser_of(target));
    }
  }
}

void take_up_companions(const DefinitionOutput& output, const RunRecord& before, const FinishedWork& work,
                        const DamagedParts& damaged) {
  const auto run = event_file_run(before);
  for (const auto& [given, target] : output.also) take_up_output(target, run, work, damaged);
}

}  // namespace eventloom
