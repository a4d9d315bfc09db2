#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/launcher.hpp"
#include "app/command/mpi_command.hpp"
#include "app/command/rank_places.hpp"
#include "app/run/live_pasts.hpp"
#include "app/run/rank_run.hpp"
#include "app/run/run_account.hpp"
#include "app/run/run_companions.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_files.hpp"
#include "app/run/run_output.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_taps.hpp"
#include "app/run/run_view.hpp"
#include "app/run/run_watch.hpp"
#include "app/run/unused_channels.hpp"
#include "app/tools/doctor/shared_memory_check.hpp"
#include "core/engine/run_control.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/memory.hpp"
#include "core/runtime/stop_signal.hpp"
#include "core/transport/mpi_network.hpp"
#include "core/transport/puts_end.hpp"
#include "io/files/output_lock.hpp"
#include "io/registry/open_sources.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_output/run_folder.hpp"

namespace eventloom {

namespace {

void report_setup(const RunSetup& setup, const ExchangeBackend& backend) {
  spdlog::info("{}", setup.in_force);
  spdlog::info("exchange: osc {}, pml {}, UCX transports {}", backend.osc, backend.pml, backend.transports);
  if (backend.osc.empty()) {
    spdlog::warn("{} does not say whether the exchange runs over UCX; Open MPI's does", MpiEnvironment::mpi_version());
  } else if (!backend.is_ucx) {
    spdlog::warn("the exchange does not run over UCX: OMPI_MCA_osc or an MCA parameter file chose '{}'", backend.osc);
  }
}

/// Collective. Warns if ranks must share cores.
void report_crowding(const Collective& ranks) {
  const auto crowded = crowding(hosts_of(rank_places(ranks)));
  if (crowded.empty() || ranks.rank() != 0) return;
  spdlog::warn("{} and yield to each other; 'eventloom doctor', started in the same way, says what to do", crowded);
}

/// Call before MPI starts: MPI would end the program with messages of its own.
void report_shared_memory() {
  const auto share = host_share(ProcessPlace::of_this(), 1);
  const auto little = too_little_to_start(share.ranks);
  if (little.empty() || !share.first) return;
  spdlog::warn("{}: MPI may not start; 'eventloom doctor', started in the same way, says what to do", little);
}

/// If there are several ranks, log messages name their rank.
void report_place(const RunSetup& setup, const Collective& ranks) {
  if (ranks.size() == 1) return;
  set_log_place("rank " + std::to_string(ranks.rank()) + " (" + plays(setup.roles, ranks.rank()) + ")");
}

/// Prepares to continue. The records become those of all invocations that contribute to this run.
void continue_from(const std::vector<Resumption>& resumptions, RunSetup& setup, std::vector<RunRecord>& records) {
  SliceId end;
  for (std::size_t i = 0; i < resumptions.size(); ++i) {
    if (!resumptions[i].resumes) continue;
    add_invocations(records[i], resumptions[i].before);
    end = std::max(end, resumptions[i].finished.end());
  }
  // Data that live sources sent meanwhile are lost; data received are not.
  if (setup.all_live) setup.first_slice = std::max(first_slice_with_data(setup), end);
  if (setup.all_live) return;
  setup.finished = finished_in_all(resumptions);
  setup.first_slice = std::max(setup.first_slice, setup.finished.frontier());
}

/// Rank 0 only. Returns the exit code.
int finish(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results,
           std::vector<RunRecord>& records, const ExchangeBackend& backend, const std::string& stopped_by,
           RunView& view) {
  const Activity activity("writing the run file");
  int code = exit_code_of(results);
  try {
    write_results(output, setup, results, records, backend);
  } catch (const std::exception&) {
    const auto failure = Failure::of(std::current_exception());
    if (failure.code != kExitUsage) throw;
    spdlog::error("{}; finished data are safe; complete the run with the same command and --resume", failure.text);
    code = kExitStopped;
  }
  view.make_way();
  print_summary(std::cout, output, setup, results, stopped_by);
  for (const auto& result : results) {
    for (const auto& wrong : imbalances(result)) spdlog::error("the ledger does not balance: {}", wrong);
  }
  view.conclude(results.front(), code, stopped_by);
  return code;
}

InputFiles input_files(const RunConfig& config) {
  return {expand_sources(config.sources.uris), config.exchange.schedule.name, config.config_file};
}

/// Rank 0 only. Replaces existing outputs, except those of definitions whose run is resumed.
void begin_outputs(const RunConfig& config, const RunSetup& setup, const std::vector<RunRecord>& records,
                   const std::vector<Resumption>& resumptions) {
  const auto& output = config.output;
  const auto writers = setup.roles.writers();
  check_file_triggers(output, writers);
  std::vector<CompanionPlace> companions;
  for (std::size_t i = 0; i < output.runs.size(); ++i) {
    if (!resumptions[i].resumes) companions.emplace_back(output.runs[i], output.force, setup.event_files, writers);
  }
  if (output.has_companions()) check_companions(input_files(config), output, companions);
  for (std::size_t i = 0; i < output.runs.size(); ++i) {
    if (!resumptions[i].resumes) begin_output(output.runs[i].file, output.save_sorted, records[i]);
  }
  for (const auto& place : companions) place.clear();
  begin_index(output);
}

/// Collective. Prepares the scratch folders and begins the outputs.
void prepare_output(const RunConfig& config, const RunSetup& setup, const std::vector<RunRecord>& records,
                    const std::vector<Resumption>& resumptions, const Collective& ranks) {
  const auto& output = config.output;
  agree(ranks, [&] {
    if (output.scratch.empty()) return;
    for (const auto& run : output.runs) prepare_scratch(scratch_folder(output.scratch, output.file), run.file);
  });
  agree(ranks, [&] {
    if (ranks.rank() == 0) begin_outputs(config, setup, records, resumptions);
  });
}

/// Collective. Returns null if a resumed run cannot write: it can still be resumed.
std::unique_ptr<RankRun> begin_roles(const OutputSettings& output, RunSetup& setup,
                                     const std::vector<Resumption>& resumptions, RunTaps& taps, Session& session) {
  try {
    return std::make_unique<RankRun>(output, setup, resumptions, taps, session);
  } catch (const UserError& e) {
    if (!any_resumes(resumptions)) throw;
    if (session.ranks().rank() == 0) spdlog::error("{}; repeat the same command with --resume", e.what());
    return nullptr;
  }
}

/// Collective. Returns the results of all ranks for one definition.
RunResult add_up(RunResult mine, const RunSetup& setup, const Resumption& resumption, RunView& view,
                 const Collective& ranks) {
  if (ranks.rank() == 0) {
    mine.totals.add(resumption.totals);
    mine.parts.insert(mine.parts.end(), resumption.parts.begin(), resumption.parts.end());
  }
  auto all = add_up(mine, ranks);
  all.live = setup.live;
  all.all_live = setup.all_live;
  all.slices_before = resumption.totals[Metric::slices];
  all.hits_before = resumption.totals[Metric::hits_in];
  view.add_to(all);
  if (ranks.rank() == 0) add_account(all, setup, resumption);
  return all;
}

/// Collective. Runs everything between the first and the last slice and returns one result per definition.
std::vector<RunResult> build_events(RankRun& rank_run, const DetectorOptions& detector, const RunSetup& setup,
                                    const std::vector<Resumption>& resumptions, RunView& view,
                                    const Collective& ranks) {
  const auto start = std::chrono::steady_clock::now();
  rank_run.work(view);
  auto results = rank_run.close();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].seconds = seconds;
    results[i].totals[Metric::peak_rss_bytes] = peak_bytes();
    results[i] = add_up(std::move(results[i]), setup, resumptions[i], view, ranks);
  }
  auto& first = results.front();
  if (ranks.rank() == 0) first.unused = unused_channels(detector, setup, first.channels_seen, first.slices_before != 0);
  return results;
}

/// Rank 0 only. Returns the exit code of a run that had already ended.
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

/// Collective. Returns the exit code that `work` returns on rank 0.
int from_first_rank(const Collective& ranks, const std::function<int()>& work) {
  int code = kExitOk;
  agree(ranks, [&] {
    if (ranks.rank() == 0) code = work();
  });
  return ranks.broadcast(code);
}

/// The sources themselves need not exist any more.
bool has_live_sources(const std::vector<std::string>& uris) {
  return std::ranges::any_of(expand_sources(uris), [](const SourceSpec& spec) { return is_live(spec.uri); });
}

using OutputLocks = std::vector<std::unique_ptr<OutputLock>>;

/// Collective. While rank 0 holds the locks, no other run writes these outputs. The files are checked under the locks,
/// because an earlier run may just have ended.
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

/// Collective. `--resume --force`: continues an interrupted run, replaces a complete one.
void choose_by_what_is_there(RunConfig& config, const Collective& ranks) {
  config.output.resume = config.sources.live.keep_recordings = !all_complete(find_complete_runs(config.output, ranks));
}

/// Calls `work`. Viewers of the run see its error before the monitor closes.
int seen_to_fail(RunView& view, const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    view.fail(Failure::of(std::current_exception()));
    throw;
  }
}

/// Before the first slice, a signal ends the run at once. Under a launcher this message is not printed: the launcher
/// reports the signal and may have sent it itself, because the run is ending for another reason.
constexpr const char* kNotBegun =
    "eventloom run: ended by a signal before the first slice; the same command with --resume starts it\n";

/// Shows how the run is set up, on the terminal and the monitor.
class ShownSetup final : public SetupWatch {
 public:
  /// `before`: is reset when live sources begin to receive. All arguments must outlive this object.
  ShownSetup(std::optional<EndsAtOnce>& before, RunWatch& watch, RunView& view)
      : before_(before), watch_(watch), view_(view) {}

  void expect(const RunSetup& expected) override {
    if (expected.live) before_.reset();
    view_.announce(expected);
  }
  void wait(std::size_t live, std::size_t known) override {
    watch_.turn();
    view_.wait(live, known);
  }

 private:
  std::optional<EndsAtOnce>& before_;
  RunWatch& watch_;
  RunView& view_;
};

RunDescription describe_run(const RunConfig& config) {
  RunDescription run;
  run.name = config.output.file;
  run.command_line = command_line_of_process();
  run.definition = config.building.definitions.front().given();
  run.filters = config.building.filters;
  run.schedule = config.exchange.schedule.name;
  run.eventloom_version = EVENTLOOM_VERSION;
  run.mpi_version = MpiEnvironment::mpi_version();
  run.ucx_version = MpiEnvironment::ucx_version();
  run.configuration = config.output.setup;
  return run;
}

/// `before`: covers the time before the first slice; it is reset here.
int run(RunConfig config, std::optional<EndsAtOnce>& before, const Communicator& communicator) {
  const bool first = communicator.rank() == 0;
  const auto& output = config.output;
  RunWatch watch(config.stalls, communicator);
  const auto locks = lock_outputs(config, communicator);
  RunView view(config.view, describe_run(config), communicator);
  if (output.resume && output.force) choose_by_what_is_there(config, communicator);
  if (output.resume && has_live_sources(config.sources.uris)) {
    const auto ended = find_complete_runs(output, communicator);
    require_undamaged(output, ended, communicator);
    if (all_complete(ended)) return from_first_rank(communicator, [&] { return report_complete(output, ended); });
  }
  const auto backend = exchange_backend();
  ShownSetup shown(before, watch, view);
  RunSetup setup = set_up_run(config.sources, config.building, config.exchange, communicator, shown);
  require_alarm_sources(config.view.alarms, setup.sources.size());
  watch.set_roles(setup.roles);
  report_place(setup, communicator);
  auto records = describe(output, setup);
  const auto resumptions = resume_run(output, setup, records, communicator);
  if (all_complete(resumptions)) {
    return from_first_rank(communicator, [&] { return report_complete(output, resumptions); });
  }
  if (first) report_setup(setup, backend);
  if (any_resumes(resumptions)) continue_from(resumptions, setup, records);
  if (output.has_companions() || output.tap) setup.event_files = agreed_event_file_run(records.front(), communicator);
  auto taps = output.tap ? RunTaps(*output.tap, setup.event_files, setup.roles, communicator) : RunTaps();
  MpiNetwork network(communicator);
  Idle idle;
  Session session(session_settings(config.sources, config.building, config.exchange, config.view, setup),
                  {network, watch, idle});
  prepare_output(config, setup, records, resumptions, communicator);
  prepare_live_sources(output.file, setup, resumptions, communicator);
  view.begin(setup, records.front(), {config.sources.duration, resumptions.front().totals.counters}, session);
  const auto rank_run = begin_roles(output, setup, resumptions, taps, session);
  if (!rank_run) return kExitStopped;
  const PutsEnd puts_end(session.wiring().data());
  report_crowding(communicator);
  before.reset();
  return seen_to_fail(view, [&] {
    const auto results = build_events(*rank_run, config.building.detector, setup, resumptions, view, communicator);
    return from_first_rank(communicator, [&] {
      return finish(output, setup, results, records, backend, session.control().stopped_by(), view);
    });
  });
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  catch_stop_signals();
  std::optional<EndsAtOnce> before(std::in_place, kExitStopped, launched() ? "" : kNotBegun);
  return run_inside_mpi<RunConfig>(
      "run",
      [&] {
        auto config = parse_run_config(argc, argv);
        if (config && !config->quiet) report_shared_memory();
        return config;
      },
      [](const RunConfig& config) {
        const auto text = [](bool on) { return on ? "true\n" : "false\n"; };
        const auto& output = config.output;
        return output.setup + "resume = " + text(output.resume) + "force = " + text(output.force);
      },
      [&](const RunConfig& config, const Communicator& communicator) {
        if (config.quiet) spdlog::set_level(spdlog::level::err);
        return run(config, before, communicator);
      });
}

}  // namespace eventloom
