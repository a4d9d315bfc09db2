#include "io/run_input/run_to_merge.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/duration_text.hpp"
#include "formats/slice_set.hpp"
#include "io/run_input/finished_work.hpp"

namespace eventloom {

namespace {

SliceSet slice_set(std::uint64_t first, const std::vector<SliceRun>& runs) {
  try {
    return {SliceId{first}, runs};
  } catch (const std::invalid_argument& e) {
    throw UserError(fmt::format("the lists of finished parts contradict each other: {}", e.what()));
  }
}

/// Describes what is missing, from the finished slices.
std::string missing_of(const std::vector<SliceRun>& runs, const RunRecord& record) {
  std::uint64_t first = std::numeric_limits<std::uint64_t>::max();
  for (const auto& slices : runs) {
    if (slices.count > 0) first = std::min(first, slices.first);
  }
  if (first == std::numeric_limits<std::uint64_t>::max())
    return "the run had not ended, and nothing of it was finished";
  const auto finished = slice_set(first, runs);
  const Tick ticks(record.epochs_per_slice * record.base.epoch_ticks);
  const auto at = [&](std::uint64_t slice) {
    return record.numbered ? fmt::format("number {}", (slice * ticks).value)
                           : duration_text(slice * ticks, record.base.tick_ps);
  };
  auto text = fmt::format("the run had not ended: slices {} to {} are finished, from {} to {}", first,
                          finished.frontier().value - 1, at(first), at(finished.frontier().value));
  if (finished.size_beyond() > 0) {
    text += fmt::format(", and {} of the slices {} to {}", finished.size_beyond(), finished.frontier().value + 1,
                        finished.end().value - 1);
  }
  return text + "; all others are missing";
}

/// Makes the finished parts of an unfinished run its contents. Returns what is missing, in words.
std::string take_finished(const std::filesystem::path& run_file, RunFile& run) {
  std::vector<SliceRun> slices;
  for (auto& part : finished_parts(run_file)) {
    slices.insert(slices.end(), part.slices.begin(), part.slices.end());
    run.record.totals.add(part.totals);
    run.parts.push_back(std::move(part.info));
  }
  return missing_of(slices, run.record);
}

}  // namespace

RunToMerge open_run_to_merge(const std::filesystem::path& run_file, bool partial) {
  RunToMerge result{read_run_file(run_file), {}};
  if (result.run.record.closed) return result;
  if (!partial) {
    throw UserError(
        "'" + run_file.string() +
        "': the run is still running or was interrupted; finish it with the command that began it and --resume, or "
        "merge what it has finished with --partial");
  }
  result.missing = take_finished(run_file, result.run);
  return result;
}

}  // namespace eventloom
