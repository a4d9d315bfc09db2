#include "app/run/run_end.hpp"

#include <functional>
#include <iostream>
#include <optional>
#include <utility>

#include "app/command/launcher.hpp"
#include "app/run/run_output.hpp"
#include "app/run/run_report.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "io/hdf5/output_kind.hpp"

namespace eventloom {

namespace {

/// While it merges, a signal ends the program at once: the parts stay until the merged file is complete.
constexpr const char* kNotMerged =
    "eventloom run: the run is complete, but a signal came before it was merged; the same command with --resume merges "
    "it\n";

/// Returns the message of an error that the user can fix, "" if there was none. Throws any other error of `work`.
std::string fixable_error(const std::function<void()>& work) {
  try {
    work();
    return {};
  } catch (const std::exception&) {
    auto failure = Failure::of(std::current_exception());
    if (failure.code != kExitUsage) throw;
    return std::move(failure.text);
  }
}

/// Collective. Returns the exit code that `work` returns on rank 0; the others sleep meanwhile.
int from_first_rank(const Collective& ranks, const std::function<int()>& work) {
  int code = kExitOk;
  agree_at_rest(ranks, [&] {
    if (ranks.rank() == 0) code = work();
  });
  return ranks.broadcast(code);
}

// Rank 0 only. They return the exit code.

int write_output(const OutputSettings& output, const EndedRun& run) {
  const Activity activity("writing the run file");
  const auto error = fixable_error([&] { write_results(output, run.setup, run.results, run.records, run.backend); });
  if (error.empty()) return exit_code_of(run.results);
  log::error("{}; finished data are safe; {}", error, how_to_continue(output.run_number.has_value()));
  return kExitStopped;
}

int merge_parts(const OutputSettings& output, int code, RunWatch& watch) {
  const auto error = fixable_error([&] { merge_output(output, [&watch] { watch.turn(); }); });
  if (error.empty()) return code;
  log::error("{}; the run is complete, but not merged: {} merges it", error,
             output.run_number ? "'eventloom merge'" : "the same command with --resume");
  return kExitUsage;
}

int show_end(const OutputSettings& output, const EndedRun& run, int code, RunView& view) {
  view.make_way();
  print_summary(std::cout, output, run.setup, run.results, run.stopped_by);
  for (const auto& result : run.results) {
    for (const auto& wrong : imbalances(result)) log::error("the ledger does not balance: {}", wrong);
  }
  view.conclude(run.results.front(), code, run.stopped_by);
  return code;
}

int report_complete(const OutputSettings& output, const std::vector<Resumption>& resumptions) {
  std::vector<RunResult> results;
  for (std::size_t i = 0; i < resumptions.size(); ++i) {
    const auto& file = output.runs[i].file;
    clear_up(file, resumptions[i].parts);
    std::cout << file << ": the run is complete, there is nothing to resume\n";
    auto& totals = results.emplace_back().totals;
    totals = resumptions[i].before.totals;
    totals[Metric::hits_read] = totals[Metric::hits_in];
  }
  return exit_code_of(results);
}

/// Collective. Merges the parts of a run that has ended with `code`, if requested. Returns the exit code.
int merge_if_wanted(const OutputSettings& output, int code, RunWatch& watch, const Collective& ranks) {
  if (!output.merge || code == kExitStopped) return code;
  // One of several runs has still to be logged, and its front ends have to be stopped.
  std::optional<EndsAtOnce> at_once;
  if (!output.run_number) at_once.emplace(kExitStopped, launched() ? "" : kNotMerged);
  return from_first_rank(ranks, [&] { return merge_parts(output, code, watch); });
}

/// The report of a run whose parts are gone must not list them.
int report_merged(const OutputSettings& output, const EndedRun& run, int code) {
  if (output.report_json.empty() || !is_merged_file(output.runs.front().file)) return code;
  const auto error = fixable_error([&] { write_report_json(output, run.setup, run.results, run.backend); });
  if (error.empty()) return code;
  log::error("{}; the run is complete and merged", error);
  return kExitUsage;
}

}  // namespace

int end_run(const OutputSettings& output, const EndedRun& run, RunWatch& watch, RunView& view,
            const Collective& ranks) {
  int code = from_first_rank(ranks, [&] { return write_output(output, run); });
  code = merge_if_wanted(output, code, watch, ranks);
  return from_first_rank(ranks, [&] { return show_end(output, run, report_merged(output, run, code), view); });
}

int end_complete(const OutputSettings& output, const std::vector<Resumption>& resumptions, RunWatch& watch,
                 const Collective& ranks) {
  const int code = from_first_rank(ranks, [&] { return report_complete(output, resumptions); });
  return merge_if_wanted(output, code, watch, ranks);
}

}  // namespace eventloom
