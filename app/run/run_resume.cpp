#include "app/run/run_resume.hpp"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "app/command/mpi_command.hpp"
#include "app/command/options.hpp"
#include "app/document/json_message.hpp"
#include "app/run/run_companions.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/json.hpp"
#include "core/runtime/log.hpp"
#include "formats/utc_time.hpp"
#include "io/run_format/run_index.hpp"
#include "io/run_format/run_names.hpp"
#include "io/run_format/totals_json.hpp"
#include "io/run_input/verify_columns.hpp"
#include "io/run_output/run_file_writer.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kDifferencesShown = 4;
/// Interrupted runs of recorded sources are replaced even without --force.
constexpr const char* kToStartOver = "start over with --force instead of --resume";

template <class T>
void compare(std::vector<std::string>& found, const std::string& what, const T& before, const T& now) {
  if (before != now) found.push_back(fmt::format("{} was '{}', is '{}'", what, before, now));
}

std::string joined(const std::vector<std::string>& texts, const char* separator, std::size_t most = SIZE_MAX) {
  std::string all;
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) all += (i == 0 ? "" : separator) + texts[i];
  if (texts.size() > most) all += fmt::format("{}and {} more", separator, texts.size() - most);
  return all;
}

/// Returns --time-origin in its standard form: the same time may be written in several ways.
std::string time_origin_in(const RunRecord& record) {
  const auto text = setup_option(record, "time-origin");
  return text.empty() ? text : utc_text(parsed("time-origin", [&] { return parse_unix_ns(text); }));
}

void compare_sources(std::vector<std::string>& found, const RunRecord& before, const RunRecord& now) {
  compare(found, "the number of sources", before.sources.size(), now.sources.size());
  for (std::size_t s = 0; s < std::min(before.sources.size(), now.sources.size()); ++s) {
    const auto& a = before.sources[s];
    const auto& b = now.sources[s];
    const auto source = fmt::format("source {}", s);
    compare(found, source, a.uri, b.uri);
    if (a.uri != b.uri) continue;
    compare(found, fmt::format("the size of {} ({})", source, a.name), a.input.bytes, b.input.bytes);
    compare(found, fmt::format("the checksum of {} ({})", source, a.name), fmt::format("{:08x}", a.input.crc32c),
            fmt::format("{:08x}", b.input.crc32c));
  }
}

/// Reports only the first line that differs: maps are long.
void compare_maps(std::vector<std::string>& found, const std::string& before, const std::string& now) {
  std::istringstream a(before);
  std::istringstream b(now);
  for (std::uint64_t number = 1; before != now; ++number) {
    std::string one;
    std::string two;
    const bool more_before = static_cast<bool>(std::getline(a, one));
    const bool more_now = static_cast<bool>(std::getline(b, two));
    if (one == two && (more_before || more_now)) continue;
    found.push_back(fmt::format("line {} of the --detector map was '{}', is '{}'", number, one, two));
    return;
  }
}

[[noreturn]] void refuse_other_setup(const std::string& run_file, const std::string& difference) {
  throw UserError(
      fmt::format("'{}' cannot be resumed, it was begun with another input or setup: {}; repeat the original "
                  "command, or {}",
                  run_file, difference, kToStartOver));
}

void refuse_differences(const std::string& run_file, const RunRecord& before, const RunRecord& now) {
  const auto found = differences(before, now);
  if (!found.empty()) refuse_other_setup(run_file, joined(found, "; ", kDifferencesShown));
}

std::string given(const std::vector<std::string>& definitions) { return "'" + joined(definitions, "' and '") + "'"; }

/// Returns the definitions, with names, of the run at the output's path.
std::vector<std::string> definitions_before(const std::string& output) {
  if (!is_run_index(output)) return {read_run_record(output).definition};
  std::vector<std::string> definitions;
  for (const auto& run : read_run_index(output).runs) definitions.push_back(run.name + "=" + run.definition);
  return definitions;
}

void refuse_other_definitions(const OutputSettings& output) {
  if (!std::filesystem::exists(output.file)) return;
  if (!output.has_index() && !is_run_index(output.file)) return;  // its record contains more
  std::vector<std::string> now;
  for (const auto& run : output.runs) now.push_back(run.define.given());
  const auto before = definitions_before(output.file);
  if (before != now) {
    refuse_other_setup(output.file, fmt::format("--define was {}, is {}", given(before), given(now)));
  }
}

/// Live sources do not begin again at the first slice of the run, nor do followed files that their recorder has
/// removed.
SliceId first_finished(SliceId first, const std::vector<SliceRun>& runs) {
  for (const auto& run : runs) first.value = std::min(first.value, run.first);
  return first;
}

SliceSet finished_slices(const std::string& run_file, const RunSetup& setup, const FinishedWork& work) {
  std::vector<SliceRun> runs;
  for (const auto& part : work.parts) runs.insert(runs.end(), part.slices.begin(), part.slices.end());
  // The run begins with what its sources send now.
  if (setup.all_live && runs.empty()) return {};
  const SliceId first = setup.all_live ? first_finished(setup.first_slice, runs) : setup.first_slice;
  try {
    return {first, runs};
  } catch (const std::invalid_argument& e) {
    throw UserError(fmt::format("'{}' cannot be resumed, its lists of finished parts contradict each other: {}; {}",
                                run_file, e.what(), kToStartOver));
  }
}

/// Damaged statistics do not justify refusing the data.
RunStatistics earlier_statistics(const std::string& run_file) {
  try {
    return read_statistics(run_file);
  } catch (const UserError& e) {
    log::warn("{}; what earlier invocations have counted of sources and messages is lost", e.what());
    return {};
  }
}

/// Throws UserError if a merged file is damaged: it cannot be built again in part.
void expect_undamaged(const std::string& merged_file) {
  const Activity activity("checking the merged file");
  try {
    verify_columns(merged_file);
  } catch (const UserError& e) {
    throw UserError(fmt::format("{}; restore it, or {}", e.what(), kToStartOver));
  }
}

/// State of a run as known to rank 0 before any part is read.
struct FoundRun {
  Resumption resumption;
  FinishedWork work;
};

/// Rank 0 only.
FoundRun look_for_run(const std::string& run_file, bool saves_sorted, const RunSetup& setup, const RunRecord& now) {
  FoundRun found;
  auto& resumption = found.resumption;
  if (!std::filesystem::exists(run_file)) {
    log::info("there is no '{}' to resume: the run begins with the first slice", run_file);
    return found;
  }
  auto run = read_run_or_merged(run_file);
  if (run.merged) expect_undamaged(run_file);
  if (!run.record.closed) found.work = read_finished_work(run_file);
  resumption.before = std::move(run.record);
  refuse_differences(run_file, resumption.before, now);
  resumption.statistics = earlier_statistics(run_file);
  resumption.complete = resumption.before.closed;
  resumption.merged = run.merged;
  if (setup.live && saves_sorted && !found.work.parts.empty()) {
    throw UserError(
        fmt::format("'{}' was interrupted, and a run with --save-sorted would start over, but live data cannot "
                    "be received again: omit --save-sorted to continue, or choose another --output",
                    run_file));
  }
  resumption.resumes = !resumption.complete && !saves_sorted;
  if (resumption.complete) {
    resumption.parts = std::move(run.parts);
  } else if (!resumption.resumes) {
    log::warn("'{}' was interrupted; a run with --save-sorted starts over", run_file);
    found.work = {};
  }
  return found;
}

std::vector<PartInfo> parts_of(const FoundRun& found) {
  auto parts = found.resumption.parts;
  for (const auto& part : found.work.parts) parts.push_back(part.info);
  return parts;
}

/// Collective. Each rank reads its share of the parts that rank 0 has found.
DamagedParts find_damage(const std::string& run_file, const std::vector<PartInfo>& parts, const Collective& ranks) {
  const Activity activity("checking the finished parts");
  Json list = Json::array();
  for (const auto& part : parts) list.emplace_back(to_json(part));
  const auto reported = broadcast_json(ranks, list);
  const auto n_ranks = static_cast<std::size_t>(ranks.size());
  Json mine = Json::object();
  for (auto i = static_cast<std::size_t>(ranks.rank()); i < reported.size(); i += n_ranks) {
    const auto part = part_from_json(Json(reported[i]));
    if (const auto damage = damage_of_part(run_file, part)) mine[part.name] = *damage;
  }
  DamagedParts damaged;
  for (const auto& theirs : all_gather_json(ranks, mine)) {
    for (const auto& [name, damage] : theirs.items()) damaged[name] = damage;
  }
  return damaged;
}

/// Throws UserError if the damaged parts cannot be built again.
void refuse_damage(const std::string& run_file, bool saves_sorted, bool live, const DamagedParts& damaged) {
  if (damaged.empty() || (!saves_sorted && !live)) return;
  const auto& [name, damage] = *damaged.begin();
  throw UserError(fmt::format("'{}': its part {} {}{}: restore it, or {}; {}", run_file, name, damage,
                              damaged.size() == 1 ? "" : fmt::format(", and {} more", damaged.size() - 1), kToStartOver,
                              live ? "live data cannot be received again" : "--save-sorted keeps whole runs only"));
}

/// Treats a closed run as an interrupted one in which all but the damaged parts are finished.
FinishedWork reopen(const DefinitionOutput& output, Resumption& resumption, const DamagedParts& damaged) {
  const auto folder = std::filesystem::path(output.file).parent_path();
  if (resumption.merged) {
    throw UserError(
        fmt::format("'{}' is merged, so that other definitions of its run cannot be completed beside it; {}",
                    output.file, kToStartOver));
  }
  for (const auto& info : resumption.parts) {
    if (is_name_of_part(output.file, info.name)) continue;
    throw UserError(fmt::format("'{}': its part '{}' does not have the name of a part of this file; was it renamed?",
                                output.file, info.name));
  }
  FinishedWork work;
  std::map<std::uint32_t, std::vector<FinishedPart>> good;
  for (const auto& info : resumption.parts) {
    work.writers[info.writer].go_past(info);
    const bool is_good = !damaged.contains(info.name);
    work.parts.push_back(is_good ? finished_part_of(folder / info.name, info) : FinishedPart{info, {}, {}});
    if (is_good) good[info.writer].push_back(work.parts.back());
  }
  for (auto& [writer, place] : work.writers) {
    place.list = rewrite_part_list(folder / part_list_name(output.file, writer), good[writer]);
  }
  take_up_companions(output, resumption.before, work, damaged);
  take_up_run(output.file, work, damaged);
  RunRecord record = resumption.before;
  record.closed = false;
  record.totals = {};
  write_run_file(output.file, record, {}, resumption.statistics);
  resumption.complete = false;
  resumption.resumes = true;
  resumption.parts.clear();
  return work;
}

/// Describes it to the user.
std::string text_of_finished(const Resumption& resumption, const RunSetup& setup) {
  const auto slices = resumption.totals[Metric::slices];
  const bool loses = std::ranges::any_of(setup.streams, [](const SourceInfo& s) { return s.live && !s.followed; });
  if (slices == 0) {
    return fmt::format("nothing of it is finished, {}", loses ? "so that what its live sources have sent is lost"
                                                              : "so that it is built from the beginning");
  }
  const auto frontier = resumption.finished.frontier();
  const bool any_before = setup.all_live || frontier > setup.first_slice;
  return fmt::format("{} slices in {} parts are finished, {} slice {}", slices, resumption.parts.size(),
                     any_before ? "all before" : "but not the first,", frontier.value);
}

/// Rank 0 only. `whole`: the run is complete for all definitions. Otherwise, definitions that are complete are
/// reopened, to be finished with the others.
Resumption take_up(const DefinitionOutput& output, bool saves_sorted, const RunSetup& setup, FoundRun found,
                   const DamagedParts& damaged, bool whole) {
  auto resumption = std::move(found.resumption);
  refuse_damage(output.file, saves_sorted, setup.live, damaged);
  auto work = std::move(found.work);
  if (resumption.complete && !whole) {
    work = reopen(output, resumption, damaged);
  } else if (resumption.resumes) {
    take_up_companions(output, resumption.before, work, damaged);
    take_up_run(output.file, work, damaged);
  } else {
    return resumption;
  }
  resumption.finished = finished_slices(output.file, setup, work);
  resumption.writers = std::move(work.writers);
  for (auto& part : work.parts) {
    resumption.totals.add(part.totals);
    resumption.parts.push_back(std::move(part.info));
  }
  log::info("resuming '{}': {}", output.file, text_of_finished(resumption, setup));
  return resumption;
}

Json to_json(const Resumption& resumption) {
  Json runs = Json::array();
  for (const auto& run : resumption.finished.beyond()) runs.push_back({run.first, run.step, run.count});
  Json writers = Json::array();
  for (const auto& [number, place] : resumption.writers) {
    writers.push_back(
        {number, place.list.good_bytes, place.list.chain, place.next_segment, place.events, place.next_files});
  }
  return {{"resumes", resumption.resumes},
          {"complete", resumption.complete},
          {"frontier", resumption.finished.frontier().value},
          {"beyond", runs},
          {"writers", writers}};
}

Resumption resumption_from_json(const Json& json) {
  Resumption resumption;
  resumption.resumes = json.at("resumes");
  resumption.complete = json.at("complete");
  std::vector<SliceRun> runs;
  for (const auto& run : json.at("beyond")) runs.push_back({run.at(0), run.at(1), run.at(2)});
  resumption.finished = SliceSet({json.at("frontier")}, runs);
  for (const auto& writer : json.at("writers")) {
    resumption.writers[writer.at(0)] = {{writer.at(1), writer.at(2)}, writer.at(3), writer.at(4), writer.at(5)};
  }
  return resumption;
}

}  // namespace

std::vector<std::string> differences(const RunRecord& before, const RunRecord& now) {
  std::vector<std::string> found;
  compare(found, "--define", before.definition, now.definition);
  compare(found, "--filter", joined(before.filters, " and "), joined(now.filters, " and "));
  compare(found, "--hist", joined(before.histograms, " and "), joined(now.histograms, " and "));
  compare(found, "--group", joined(before.detector.groups, " and "), joined(now.detector.groups, " and "));
  compare_maps(found, before.detector.map, now.detector.map);
  compare(found, "--tick (ps)", before.base.tick_ps, now.base.tick_ps);
  compare(found, "--epoch (ticks)", before.base.epoch_ticks, now.base.epoch_ticks);
  compare(found, "--epochs-per-slice", before.epochs_per_slice, now.epochs_per_slice);
  compare(found, "--overlap (ticks)", before.overlap.value, now.overlap.value);
  compare(found, "--time-origin", time_origin_in(before), time_origin_in(now));
  const auto is_per_source = [](const RunRecord& record) { return setup_option(record, "per-source") == "true"; };
  compare(found, "--per-source", is_per_source(before), is_per_source(now));
  for (const char* option : {"from", "to", "dead-time", "also"}) {
    compare(found, "--" + std::string(option), joined(setup_options(before, option), " and "),
            joined(setup_options(now, option), " and "));
  }
  compare(found, "payload in the output", before.with_payload, now.with_payload);
  compare(found, "times by event number", before.numbered, now.numbered);
  compare_sources(found, before, now);
  return found;
}

bool all_complete(const std::vector<Resumption>& resumptions) {
  return std::ranges::all_of(resumptions, &Resumption::complete);
}

bool any_resumes(const std::vector<Resumption>& resumptions) {
  return std::ranges::any_of(resumptions, &Resumption::resumes);
}

SliceSet finished_in_all(const std::vector<Resumption>& resumptions) {
  auto finished = resumptions.front().finished;
  for (std::size_t i = 1; i < resumptions.size(); ++i) finished = in_both(finished, resumptions[i].finished);
  return finished;
}

std::vector<Resumption> find_complete_runs(const OutputSettings& output, const Collective& ranks) {
  std::vector<Resumption> found(output.runs.size());
  agree_at_rest(ranks, [&] {
    if (ranks.rank() == 0) refuse_other_definitions(output);
    for (std::size_t i = 0; i < found.size() && ranks.rank() == 0; ++i) {
      const auto& file = output.runs[i].file;
      if (!std::filesystem::exists(file)) continue;
      auto run = read_run_or_merged(file);
      if (run.merged) expect_undamaged(file);
      found[i].complete = run.record.closed;
      found[i].merged = run.merged;
      found[i].before = std::move(run.record);
      found[i].parts = std::move(run.parts);
    }
  });
  for (auto& resumption : found) resumption.complete = ranks.any(resumption.complete);
  return found;
}

void require_undamaged(const OutputSettings& output, const std::vector<Resumption>& found, const Collective& ranks) {
  if (!all_complete(found)) return;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto& file = output.runs[i].file;
    const auto damaged = find_damage(file, found[i].parts, ranks);
    agree(ranks, [&] { refuse_damage(file, !output.save_sorted.empty(), true, damaged); });
  }
}

std::vector<Resumption> resume_run(const OutputSettings& output, const RunSetup& setup,
                                   const std::vector<RunRecord>& now, const Collective& ranks) {
  const auto& runs = output.runs;
  if (!output.resume) return std::vector<Resumption>(runs.size());
  const bool first = ranks.rank() == 0;
  const bool saves_sorted = !output.save_sorted.empty();
  std::vector<FoundRun> found(runs.size());
  agree_at_rest(ranks, [&] {
    if (first) refuse_other_definitions(output);
    for (std::size_t i = 0; i < runs.size() && first; ++i) {
      found[i] = look_for_run(runs[i].file, saves_sorted, setup, now[i]);
    }
  });
  std::vector<DamagedParts> damaged;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    damaged.push_back(find_damage(runs[i].file, parts_of(found[i]), ranks));
  }
  const bool whole = std::ranges::all_of(found, [](const FoundRun& f) { return f.resumption.complete; }) &&
                     std::ranges::all_of(damaged, &DamagedParts::empty);
  std::vector<Resumption> mine(runs.size());
  agree(ranks, [&] {
    for (std::size_t i = 0; i < runs.size() && first; ++i) {
      mine[i] = take_up(runs[i], saves_sorted, setup, std::move(found[i]), damaged[i], whole);
    }
  });
  for (auto& resumption : mine) {
    const auto reported = broadcast_json(ranks, to_json(resumption));
    if (!first) resumption = resumption_from_json(reported);
  }
  return mine;
}

}  // namespace eventloom
