#include <chrono>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <set>

#include "app/command_line.hpp"
#include "app/mpi_command.hpp"
#include "app/run/rank_run.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_files.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
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
  spdlog::info("{}", in_force(config, setup.meaning.geometry, setup.numbered));
  spdlog::info("exchange: osc {}, pml {}, UCX transports {}", backend.osc, backend.pml, backend.transports);
  if (!backend.is_ucx) {
    spdlog::warn("the exchange does not run over UCX: OMPI_MCA_osc or an MCA parameter file chose '{}'", backend.osc);
  }
}

std::vector<std::string> distinct(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

RunRecord describe(const RunConfig& config, const RunSetup& setup) {
  RunRecord record;
  record.setup = config.effective + "# in force: " + in_force(config, setup.meaning.geometry, setup.numbered) + '\n';
  record.definition = config.define;
  record.filters = config.filter;
  record.eventloom_version = EVENTLOOM_VERSION;
  record.mpi_version = MpiEnvironment::mpi_version();
  record.ucx_version = MpiEnvironment::ucx_version();
  record.hosts = distinct(setup.hosts);
  record.base = setup.meaning.geometry.base;
  record.epochs_per_slice = setup.meaning.geometry.epochs_per_slice;
  record.overlap = setup.meaning.geometry.overlap;
  record.with_payload = setup.with_payload;
  record.numbered = setup.numbered;
  for (const auto& s : setup.sources) {
    record.sources.push_back({s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.text});
  }
  return record;
}

/// The record becomes that of all runs of the program which this run takes.
void go_on(const Resumption& resumption, RunSetup& setup, RunRecord& record) {
  if (setup.all_live) {
    // What they sent while nobody listened is not part of the run.
    setup.first_slice = std::max(setup.first_slice, resumption.finished.end());
  } else {
    setup.first_slice = resumption.finished.frontier();
    setup.finished = resumption.finished;
  }
  record.hosts.insert(record.hosts.end(), resumption.before.hosts.begin(), resumption.before.hosts.end());
  record.hosts = distinct(std::move(record.hosts));
}

void conclude(RunRecord& record, const RunResult& result) {
  record.closed = true;
  record.totals = result.totals;
}

/// What --save-sorted leaves beside its streams.
void write_manifest(const RunConfig& config, const RunSetup& setup, const RunResult& result) {
  SortedManifest manifest;
  manifest.base = setup.meaning.geometry.base;
  manifest.definition = setup.meaning.definition->text();
  manifest.overlap = setup.meaning.geometry.overlap;
  manifest.bin_ticks = histogram_ticks(setup.meaning);
  manifest.anomalies = result.totals.anomalies;
  for (const auto& s : setup.sources) {
    manifest.sources.push_back(
        {s.name, s.uri, {s.path, s.bytes, s.crc32c}, s.recorded_id, s.flags, s.payload.any(), s.text});
  }
  manifest.files = result.sorted_files;
  manifest.damage = result.sorted_damage;
  std::ranges::sort(manifest.files, {}, &SortedFile::builder);
  std::ranges::stable_sort(manifest.damage, {}, &Damage::first_epoch);
  write_sorted_manifest(config.save_sorted, manifest);
}

/// Of a run that is closed: nothing but run.h5 and its parts stays.
void clear_up(const RunConfig& config, const std::vector<PartInfo>& parts) {
  std::set<std::string> names;
  for (const auto& part : parts) names.insert(part.name);
  remove_leftovers(config.output, names);
}

/// Rank 0 alone: what the run as a whole leaves on disk. The run file comes last: with it the run is closed.
void write_results(const RunConfig& config, const RunSetup& setup, const RunResult& result, RunRecord& record,
                   const ExchangeBackend& backend) {
  if (!config.report_json.empty()) write_report_json(config, setup, result, backend);
  if (result.unfinished) return;
  if (!config.save_sorted.empty()) write_manifest(config, setup, result);
  conclude(record, result);
  write_run_file(config.output, record, result.parts);
  clear_up(config, result.parts);
}

/// Rank 0 alone. Returns the exit code.
int finish(const RunConfig& config, const RunSetup& setup, const RunResult& result, RunRecord& record,
           const ExchangeBackend& backend, const std::string& stopped_by) {
  const Activity activity("writing the run file");
  int code = exit_code_of(result);
  try {
    write_results(config, setup, result, record, backend);
  } catch (const std::exception&) {
    const auto failure = Failure::of(std::current_exception());
    if (failure.code != kExitUsage) throw;
    spdlog::error("{}; what is finished is safe, the same command with --resume ends the run", failure.text);
    code = kExitStopped;
  }
  print_summary(std::cout, config, setup, result, stopped_by);
  for (const auto& wrong : imbalances(result)) spdlog::error("the ledger does not balance: {}", wrong);
  return code;
}

/// Rank 0 alone: clears the way, so that a folder that cannot be written shows before the work.
void begin(const RunConfig& config, const RunRecord& record) {
  const std::filesystem::path output(config.output);
  if (std::filesystem::exists(output) && std::filesystem::exists(output.parent_path() / part_list_name(output, 0))) {
    spdlog::warn("'{}' was interrupted; it is begun anew, --resume would have gone on", config.output);
  }
  if (!config.save_sorted.empty()) prepare_sorted_folder(config.save_sorted);
  // In this order: whatever is cut short here leaves the old run as it was, or the new one without old parts.
  remove_lists(config.output);
  write_run_file(config.output, record, {});
  clear_up(config, {});
}

/// Collective. Nothing when a run that goes on cannot write: it can still be resumed.
std::unique_ptr<RankRun> begin_roles(const RunConfig& config, RunSetup& setup, const Resumption& resumption,
                                     Session& session) {
  try {
    return std::make_unique<RankRun>(config, setup, resumption, session);
  } catch (const UserError& e) {
    if (!resumption.goes_on) throw;
    if (session.ranks().rank() == 0) spdlog::error("{}; the same command with --resume tries it again", e.what());
    return nullptr;
  }
}

/// Collective: all that is between the first slice and the last.
RunResult build_events(RankRun& rank_run, const RunSetup& setup, const Resumption& resumption,
                       const Collective& ranks) {
  const auto start = std::chrono::steady_clock::now();
  rank_run.work();
  RunResult mine = rank_run.close();
  mine.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  mine.peak_rss_bytes = peak_bytes();
  if (ranks.rank() == 0) {
    mine.totals.add(resumption.totals);
    mine.parts.insert(mine.parts.end(), resumption.parts.begin(), resumption.parts.end());
  }
  auto all = add_up(mine, ranks);
  all.live = setup.live;
  all.all_live = setup.all_live;
  all.slices_before = resumption.totals.slices;
  all.hits_before = resumption.totals.hits_in;
  return all;
}

/// The exit code of a run that had ended before, on rank 0.
int tell_complete(const RunConfig& config, const Resumption& resumption) {
  clear_up(config, resumption.parts);
  std::cout << config.output << ": the run is complete, there is nothing to resume\n";
  RunResult result;
  result.totals = resumption.before.totals;
  result.hits_read = result.totals.hits_in;
  return exit_code_of(result);
}

/// Collective: the exit code that rank 0 finds in `work`.
int from_first_rank(const Collective& ranks, const std::function<int()>& work) {
  int code = kExitOk;
  agree(ranks, [&] {
    if (ranks.rank() == 0) code = work();
  });
  return ranks.broadcast(code);
}

/// Its sources need not be there again.
bool has_live_sources(const RunConfig& config) {
  return std::ranges::any_of(expand_sources(config.sources), [](const SourceSpec& spec) { return is_live(spec.uri); });
}

/// Collective: nobody else writes this output as long as rank 0 has the lock. Files are looked at behind it: what ended
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

/// Collective. `--resume --force`: an interrupted run goes on, a complete one gives way.
void choose_by_what_is_there(RunConfig& config, const Collective& ranks) {
  config.resume = config.live.go_on = !find_complete_run(config, ranks).complete;
}

/// Until there are slices to bring to an end a signal ends the run at once, whatever it is busy with. Under a launcher
/// it is the launcher that says so, whose own signal it may be: the run may be ending for another reason.
constexpr const char* kNotBegun =
    "eventloom run: ended by a signal before the first slice; the same command with --resume begins it\n";

/// `before`: the time before the first slice, which ends here.
int run(RunConfig config, std::optional<EndsAtOnce>& before, const Communicator& communicator) {
  const bool first = communicator.rank() == 0;
  RunWatch watch({config.stall_warning, config.stall_timeout}, communicator);
  const auto lock = lock_output(config, communicator);
  if (config.resume && config.force) choose_by_what_is_there(config, communicator);
  if (config.resume && has_live_sources(config)) {
    const auto ended = find_complete_run(config, communicator);
    require_undamaged(config, ended, communicator);
    if (ended.complete) return from_first_rank(communicator, [&] { return tell_complete(config, ended); });
  }
  const auto backend = exchange_backend();
  RunSetup setup = set_up_run(config, communicator, [&] {
    before.reset();  // live sources are listened to
    watch.turn();
  });
  watch.set_roles(setup.roles);
  RunRecord record = describe(config, setup);
  const Resumption resumption = resume_run(config, setup, record, communicator);
  if (resumption.complete) {
    return from_first_rank(communicator, [&] { return tell_complete(config, resumption); });
  }
  if (first) tell_setup(config, setup, backend);
  if (resumption.goes_on) go_on(resumption, setup, record);
  MpiNetwork network(communicator);
  Idle idle;
  Session session(session_settings(config, setup), {network, watch, idle});
  agree(communicator, [&] {
    if (!config.scratch.empty()) prepare_scratch(scratch_folder(config.scratch, config.output), config.output);
  });
  agree(communicator, [&] {
    if (first && !resumption.goes_on) begin(config, record);
  });
  const auto rank_run = begin_roles(config, setup, resumption, session);
  if (!rank_run) return kExitStopped;
  before.reset();
  const RunResult result = build_events(*rank_run, setup, resumption, communicator);
  return from_first_rank(
      communicator, [&] { return finish(config, setup, result, record, backend, session.control().stopped_by()); });
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
      [&](const RunConfig& config, const Communicator& communicator) { return run(config, before, communicator); });
}

}  // namespace eventloom
