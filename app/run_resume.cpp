#include "app/run_resume.hpp"

#include <spdlog/fmt/fmt.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "app/json_message.hpp"
#include "app/mpi_command.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kDifferencesTold = 4;

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

void refuse_differences(const std::string& run_file, const RunRecord& before, const RunRecord& now) {
  const auto found = differences(before, now);
  if (found.empty()) return;
  throw UserError(
      fmt::format("'{}' cannot be resumed, it was begun with another input or setup: {}; give what it was "
                  "begun with, or begin anew without --resume",
                  run_file, joined(found, "; ", kDifferencesTold)));
}

/// Live sources do not begin again with the first slice of the run.
SliceId first_finished(SliceId first, const std::vector<SliceRun>& runs) {
  for (const auto& run : runs) first.value = std::min(first.value, run.first);
  return first;
}

SliceSet finished_slices(const std::string& run_file, const RunSetup& setup, const FinishedWork& work) {
  std::vector<SliceRun> runs;
  for (const auto& part : work.parts) runs.insert(runs.end(), part.slices.begin(), part.slices.end());
  const SliceId first = setup.all_live ? first_finished(setup.first_slice, runs) : setup.first_slice;
  try {
    return {first, runs};
  } catch (const std::invalid_argument& e) {
    throw UserError(
        fmt::format("'{}' cannot be resumed, its lists of finished parts contradict each other: {}; begin "
                    "anew without --resume",
                    run_file, e.what()));
  }
}

/// Rank 0 alone.
Resumption take_up(const RunConfig& config, const RunSetup& setup, const RunRecord& now) {
  Resumption resumption;
  if (!std::filesystem::exists(config.output)) {
    spdlog::info("there is no '{}' to resume: the run begins with the first slice", config.output);
    return resumption;
  }
  auto run = read_run_file(config.output);
  if (setup.live && !run.record.closed && take_up_run(config.output).parts.empty()) {
    spdlog::info("'{}' was stopped before anything was finished: the run begins anew", config.output);
    return resumption;
  }
  resumption.before = std::move(run.record);
  refuse_differences(config.output, resumption.before, now);
  resumption.complete = resumption.before.closed;
  if (resumption.complete) {
    resumption.parts = std::move(run.parts);
    return resumption;
  }
  if (!config.save_sorted.empty()) {
    spdlog::warn("'{}' was interrupted; a run that keeps its time-sorted hits begins anew", config.output);
    return resumption;
  }
  auto work = take_up_run(config.output);
  resumption.goes_on = true;
  resumption.finished = finished_slices(config.output, setup, work);
  resumption.writers = std::move(work.writers);
  for (auto& part : work.parts) {
    resumption.totals.add(part.totals);
    resumption.parts.push_back(std::move(part.info));
  }
  spdlog::info("resuming '{}': {} slices in {} parts are finished, all before slice {}", config.output,
               resumption.totals.slices, resumption.parts.size(), resumption.finished.frontier().value);
  return resumption;
}

Json to_json(const Resumption& resumption) {
  Json runs = Json::array();
  for (const auto& run : resumption.finished.beyond()) runs.push_back({run.first, run.step, run.count});
  Json writers = Json::array();
  for (const auto& [number, place] : resumption.writers) {
    writers.push_back({number, place.list.good_bytes, place.list.chain, place.next_segment});
  }
  return {{"goes_on", resumption.goes_on},
          {"complete", resumption.complete},
          {"frontier", resumption.finished.frontier().value},
          {"beyond", runs},
          {"writers", writers}};
}

Resumption from_json(const Json& json) {
  Resumption resumption;
  resumption.goes_on = json.at("goes_on");
  resumption.complete = json.at("complete");
  std::vector<SliceRun> runs;
  for (const auto& run : json.at("beyond")) runs.push_back({run.at(0), run.at(1), run.at(2)});
  resumption.finished = SliceSet({json.at("frontier")}, runs);
  for (const auto& writer : json.at("writers")) {
    resumption.writers[writer.at(0)] = {{writer.at(1), writer.at(2)}, writer.at(3)};
  }
  return resumption;
}

}  // namespace

std::vector<std::string> differences(const RunRecord& before, const RunRecord& now) {
  std::vector<std::string> found;
  compare(found, "--define", before.definition, now.definition);
  compare(found, "--filter", joined(before.filters, " and "), joined(now.filters, " and "));
  compare(found, "--tick (ps)", before.base.tick_ps, now.base.tick_ps);
  compare(found, "--epoch (ticks)", before.base.epoch_ticks, now.base.epoch_ticks);
  compare(found, "--epochs-per-slice", before.epochs_per_slice, now.epochs_per_slice);
  compare(found, "--overlap (ticks)", before.overlap, now.overlap);
  compare(found, "payload in the input", before.with_payload, now.with_payload);
  compare(found, "times by event number", before.numbered, now.numbered);
  compare_sources(found, before, now);
  return found;
}

Resumption find_complete_run(const RunConfig& config, const Communicator& communicator) {
  Resumption found;
  agree(communicator, [&] {
    if (communicator.rank() != 0 || !std::filesystem::exists(config.output)) return;
    auto run = read_run_file(config.output);
    found.complete = run.record.closed;
    found.before = std::move(run.record);
    found.parts = std::move(run.parts);
  });
  found.complete = any_of_ranks(communicator, found.complete);
  return found;
}

Resumption resume_run(const RunConfig& config, const RunSetup& setup, const RunRecord& now,
                      const Communicator& communicator) {
  Resumption mine;
  agree(communicator, [&] {
    if (communicator.rank() == 0 && config.resume) mine = take_up(config, setup, now);
  });
  const auto told = communicator.broadcast(to_message(to_json(mine)));
  return communicator.rank() == 0 ? mine : from_json(from_message(told));
}

}  // namespace eventloom
