#include <chrono>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "app/command_line.hpp"
#include "app/mpi_command.hpp"
#include "app/run/rank_run.hpp"
#include "app/run/run_account.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_files.hpp"
#include "app/run/run_output.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_view.hpp"
#include "app/run/run_watch.hpp"
#include "core/engine/run_control.hpp"
#include "core/mpi/environment.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/memory.hpp"
#include "core/runtime/stop_signal.hpp"
#include "core/transport/mpi_network.hpp"
#include "io/files/output_lock.hpp"
#include "io/hdf5/run_file.hpp"
#include "io/hdf5/run_folder.hpp"

namespace eventloom {

namespace {

void tell_setup(const RunConfig& config, const RunSetup& setup, const ExchangeBackend& backend) {
  spdlog::info("{}", in_force(config, setup.run.geometry, setup.numbered));
  spdlog::info("exchange: osc {}, pml {}, UCX transports {}", backend.osc, backend.pml, backend.transports);
  if (!backend.is_ucx) {
    spdlog::warn("the exchange does not run over UCX: OMPI_MCA_osc or an MCA parameter file chose '{}'", backend.osc);
  }
}

/// Messages of several ranks say which it is.
void tell_place(const RunSetup& setup, const Collective& ranks) {
  if (ranks.size() == 1) return;
  set_log_place("rank " + std::to_string(ranks.rank()) + " (" + plays(setup.roles, ranks.rank()) + ")");
}

/// The record becomes that of all invocations that contribute to this run.
void go_on(const Resumption& resumption, RunSetup& setup, RunRecord& record) {
  if (setup.all_live) {
    // Data that live sources sent meanwhile are not part of the run.
    setup.first_slice = std::max(setup.first_slice, resumption.finished.end());
  } else {
    setup.first_slice = resumption.finished.frontier();
    setup.finished = resumption.finished;
  }
  add_invocations(record, resumption.before);
}

/// Rank 0 alone. Returns the exit code.
int finish(const RunConfig& config, const RunSetup& setup, const RunResult& result, RunRecord& record,
           const ExchangeBackend& backend, const std::string& stopped_by, RunView& view) {
  const Activity activity("writing the run file");
  int code = exit_code_of(result);
  try {
    write_results(config, setup, result, record, backend);
  } catch (const std::exception&) {
    const auto failure = Failure::of(std::current_exception());
    if (failure.code != kExitUsage) throw;
    spdlog::error("{}; finished data are safe; complete the run with the same command and --resume", failure.text);
    code = kExitStopped;
  }
  print_summary(std::cout, config, setup, result, stopped_by);
  for (const auto& wrong : imbalances(result)) spdlog::error("the ledger does not balance: {}", wrong);
  view.conclude(result, code, stopped_by);
  return code;
}

/// Collective.
void prepare_output(const RunConfig& config, const RunRecord& record, const Resumption& resumption,
                    const Collective& ranks) {
  agree(ranks, [&] {
    if (!config.scratch.empty()) prepare_scratch(scratch_folder(config.scratch, config.output), config.output);
  });
  agree(ranks, [&] {
    if (ranks.rank() == 0 && !resumption.resumes) begin_output(config, record);
  });
}

/// Collective. Nothing when a resumed run cannot write: it can still be resumed.
std::unique_ptr<RankRun> begin_roles(const RunConfig& config, RunSetup& setup, const Resumption& resumption,
                                     Session& session) {
  try {
    return std::make_unique<RankRun>(config, setup, resumption, session);
  } catch (const UserError& e) {
    if (!resumption.resumes) throw;
    if (session.ranks().rank() == 0) spdlog::error("{}; repeat the same command with --resume", e.what());
    return nullptr;
  }
}

/// Collective: everything between the first slice and the last.
RunResult build_events(RankRun& rank_run, const RunSetup& setup, const Resumption& resumption, RunView& view,
                       const Collective& ranks) {
  const auto start = std::chrono::steady_clock::now();
  rank_run.work([&](SteadyTime now) { view.turn(now); });
  RunResult mine = rank_run.close();
  mine.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  mine.totals[Metric::peak_rss_bytes] = peak_bytes();
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

/// The exit code of a run that had already ended, on rank 0.
int tell_complete(const RunConfig& config, const Resumption& resumption) {
  clear_up(config, resumption.parts);
  std::cout << config.output << ": the run is complete, there is nothing to resume\n";
  RunResult result;
  result.totals = resumption.before.totals;
  result.totals[Metric::hits_read] = result.totals[Metric::hits_in];
  return exit_code_of(result);
}

/// Collective: the exit code that `work` returns on rank 0.
int from_first_rank(const Collective& ranks, const std::function<int()>& work) {
  int code = kExitOk;
  agree(ranks, [&] {
    if (ranks.rank() == 0) code = work();
  });
  return ranks.broadcast(code);
}

/// Its sources need not exist any more.
bool has_live_sources(const RunConfig& config) {
  return std::ranges::any_of(expand_sources(config.sources), [](const SourceSpec& spec) { return is_live(spec.uri); });
}

/// Collective: while rank 0 holds the lock no other run writes this output. Files are examined under the lock: an
/// earlier run may just have ended.
/// meanwhile is there then.
std::unique_ptr<OutputLock> lock_output(const RunConfig& config, const Collective& ranks) {
  std::unique_ptr<OutputLock> lock;
  agree(ranks, [&] {
    if (ranks.rank() != 0) return;
    lock = std::make_unique<OutputLock>(config.output);
    check_run_files(config, expand_sources(config.sources));
  });
  return lock;
}

/// Collective. `--resume --force`: an interrupted run continues, a complete one is replaced.
void choose_by_what_is_there(RunConfig& config, const Collective& ranks) {
  config.resume = config.live.go_on = !find_complete_run(config, ranks).complete;
}

/// Does `work`. Whoever looks at the run sees its error before the monitor closes.
int seen_to_fail(RunView& view, const std::function<int()>& work) {
  try {
    return work();
  } catch (...) {
    view.fail(Failure::of(std::current_exception()));
    throw;
  }
}

/// Until slices have begun a signal ends the run at once. Under a launcher the launcher reports it, and may have sent
/// the signal itself: the run may be ending for another reason.
constexpr const char* kNotBegun =
    "eventloom run: ended by a signal before the first slice; the same command with --resume starts it\n";

/// `before`: the time before the first slice, which ends here.
int run(RunConfig config, std::optional<EndsAtOnce>& before, const Communicator& communicator) {
  const bool first = communicator.rank() == 0;
  RunWatch watch({config.stall_warning, config.stall_timeout}, communicator);
  const auto lock = lock_output(config, communicator);
  RunView view(config, communicator);
  if (config.resume && config.force) choose_by_what_is_there(config, communicator);
  if (config.resume && has_live_sources(config)) {
    const auto ended = find_complete_run(config, communicator);
    require_undamaged(config, ended, communicator);
    if (ended.complete) return from_first_rank(communicator, [&] { return tell_complete(config, ended); });
  }
  const auto backend = exchange_backend();
  RunSetup setup = set_up_run(config, communicator, [&] {
    before.reset();  // live sources are being received
    watch.turn();
  });
  require_alarm_sources(config.alarms, setup.sources.size());
  watch.set_roles(setup.roles);
  tell_place(setup, communicator);
  RunRecord record = describe(config, setup);
  const Resumption resumption = resume_run(config, setup, record, communicator);
  if (resumption.complete) {
    return from_first_rank(communicator, [&] { return tell_complete(config, resumption); });
  }
  if (first) tell_setup(config, setup, backend);
  if (resumption.resumes) go_on(resumption, setup, record);
  MpiNetwork network(communicator);
  Idle idle;
  Session session(session_settings(config, setup), {network, watch, idle});
  prepare_output(config, record, resumption, communicator);
  view.begin(config, setup, record, resumption.totals.counters, session);
  const auto rank_run = begin_roles(config, setup, resumption, session);
  if (!rank_run) return kExitStopped;
  before.reset();
  return seen_to_fail(view, [&] {
    const RunResult result = build_events(*rank_run, setup, resumption, view, communicator);
    return from_first_rank(communicator, [&] {
      return finish(config, setup, result, record, backend, session.control().stopped_by(), view);
    });
  });
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  catch_stop_signals();
  std::optional<EndsAtOnce> before(std::in_place, kExitStopped, launched() ? "" : kNotBegun);
  return run_inside_mpi<RunConfig>(
      "run", [&] { return parse_run_config(argc, argv); },
      [](const RunConfig& config) {
        const auto text = [](bool on) { return on ? "true\n" : "false\n"; };
        return config.effective + "resume = " + text(config.resume) + "force = " + text(config.force);
      },
      [&](const RunConfig& config, const Communicator& communicator) {
        if (config.quiet) spdlog::set_level(spdlog::level::err);
        return run(config, before, communicator);
      });
}

}  // namespace eventloom
