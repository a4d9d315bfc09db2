#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "app/cli/commands.hpp"
#include "app/command/command_line.hpp"
#include "app/command/launcher.hpp"
#include "app/command/mpi_command.hpp"
#include "app/command/rank_places.hpp"
#include "app/command/realtime.hpp"
#include "app/run/live_histograms.hpp"
#include "app/run/live_pasts.hpp"
#include "app/run/rank_run.hpp"
#include "app/run/repeated_run.hpp"
#include "app/run/run_account.hpp"
#include "app/run/run_begin.hpp"
#include "app/run/run_companions.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_end.hpp"
#include "app/run/run_output.hpp"
#include "app/run/run_replies.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_series.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_taps.hpp"
#include "app/run/run_view.hpp"
#include "app/run/run_watch.hpp"
#include "app/run/safe_work.hpp"
#include "app/run/source_lines.hpp"
#include "app/run/unused_channels.hpp"
#include "app/tools/doctor/shared_memory_check.hpp"
#include "core/engine/run_control.hpp"
#include "core/mpi/environment.hpp"
#include "core/mpi/ucx_settings.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/memory.hpp"
#include "core/runtime/stop_signal.hpp"
#include "core/runtime/threads.hpp"
#include "core/runtime/unreachable_rank.hpp"
#include "core/transport/mpi_network.hpp"
#include "core/transport/puts_end.hpp"
#include "io/registry/open_sources.hpp"
#include "io/run_input/run_file.hpp"

namespace eventloom {

namespace {

void report_setup(const RunSetup& setup, const ExchangeBackend& backend) {
  log::info("{}", setup.in_force);
  log::info("exchange: {}", exchange_text(backend));
  if (backend.is_ucx) return;
  if (backend.osc.empty()) {
    log::warn("the exchange does not run over UCX, which it is made for; events are the same");
  } else {
    log::warn("the exchange does not run over UCX: OMPI_MCA_osc or an MCA parameter file chose '{}'", backend.osc);
  }
}

void report_changes(const std::string& file, const RunRecord& now) {
  const auto changes = changes_since(file, now);
  for (const auto& change : changes) log::warn("not as in '{}': {}", file, change);
  if (changes.empty()) log::info("repeats the run of '{}'", file);
}

/// Collective. Warns if ranks must share cores.
void report_crowding(const Collective& ranks) {
  const auto crowded = crowding(hosts_of(rank_places(ranks)));
  if (crowded.empty() || ranks.rank() != 0) return;
  log::warn("{} and yield to each other; 'eventloom doctor', started in the same way, says what to do", crowded);
}

/// Call before MPI starts: MPI would end the program with its own messages.
void spare_shared_memory(bool quiet) {
  const auto share = host_share(ProcessPlace::of_this(), 1);
  const auto little = too_little_to_start(share.ranks);
  if (little.empty()) return;
  const bool spared = avoid_named_memory();
  if (quiet || !share.first) return;
  if (spared) {
    log::info("{}: the ranks of this host exchange through System V memory instead (UCX_TLS=^posix)", little);
  } else {
    log::warn("{}: MPI may not start; 'eventloom doctor', started in the same way, says what to do", little);
  }
}

/// Collective. Counts all threads of a rank except its builder's as one: they seldom work at the same time.
void protect_ranks(const RunConfig& config, RunSetup& setup, const Collective& ranks) {
  if (!config.realtime) return;
  const bool others = setup.live || setup.any_followed || config.view.monitor || !config.view.alarms.empty() ||
                      config.output.tap || !config.building.filter_command.text.empty();
  setup.realtime = apply_realtime(ranks, builder_threads() + (others ? 1 : 0));
  if (ranks.rank() == 0) log::info("--realtime: {}", summary_of(setup.realtime));
}

/// If there are several ranks, log messages name their rank.
void report_place(const RunSetup& setup, const Collective& ranks) {
  if (ranks.size() == 1) return;
  set_log_place("rank " + std::to_string(ranks.rank()) + " (" + plays(setup.roles, ranks.rank()) + ")");
}

/// Collective. Returns null if a resumed run cannot write: it can still be resumed.
std::unique_ptr<RankRun> begin_roles(const OutputSettings& output, RunSetup& setup,
                                     const std::vector<Resumption>& resumptions, RunTaps& taps, RunReplies& replies,
                                     Session& session) {
  try {
    return std::make_unique<RankRun>(output, setup, resumptions, taps, replies, session);
  } catch (const UserError& e) {
    if (!any_resumes(resumptions)) throw;
    if (session.ranks().rank() == 0) log::error("{}; repeat the same command with --resume", e.what());
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
  // Followed files are read again from the first unfinished slice on, with finished slices after it, and files that
  // their recorder has removed are not.
  all.input_cut = all.input_cut || (setup.any_followed && resumption.resumes);
  view.add_to(all);
  if (ranks.rank() == 0) add_account(all, setup, resumption);
  return all;
}

/// Collective. Runs everything between the first and the last slice and returns one result per definition.
std::vector<RunResult> build_events(RankRun& rank_run, const DetectorOptions& detector, const RunSetup& setup,
                                    const std::vector<Resumption>& resumptions, RunView& view, SafeWork& safe_work,
                                    const Collective& ranks) {
  const auto start = std::chrono::steady_clock::now();
  rank_run.work(view, safe_work);
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

/// The sources themselves need not exist any more.
bool has_live_sources(const std::vector<std::string>& uris) {
  return std::ranges::any_of(expand_sources(uris), [](const SourceSpec& spec) { return is_live(spec.uri); });
}

/// Calls `work`. Viewers of the run see its error before the monitor closes.
RunEnding seen_to_fail(RunView& view, const std::function<RunEnding()>& work) {
  try {
    return work();
  } catch (...) {
    view.fail(Failure::of(std::current_exception()));
    throw;
  }
}

/// Calls `work`. If a rank is lost, says so at once: the launcher may end this rank before the error arrives. A call
/// that failed although no rank is lost is an error of the program.
RunEnding with_losses_reported(RunWatch& watch, const std::function<RunEnding()>& work) {
  try {
    return work();
  } catch (UnreachableRank& e) {
    if (!e.reported() && watch.report_unreachable(e.rank(), e.why())) e.set_reported();
    throw;
  }
}

/// Before the first slice, a signal ends the run at once. Under a launcher this message is not printed: the launcher
/// reports the signal and may have sent it itself, because the run is ending for another reason.
constexpr const char* kNotBegun =
    "eventloom run: ended by a signal before the first slice; the same command with --resume starts it\n";

/// Covers the time before the first slice.
using BeforeSlices = std::optional<EndsAtOnce>;

/// Collective. Ends before the first slice.
RunEnding end_now(const OutputSettings& output, const std::vector<Resumption>& found, BeforeSlices& before,
                  RunWatch& watch, const Communicator& communicator) {
  before.reset();
  return {end_complete(output, found, watch, communicator)};
}

LoggedRun::Totals totals_of(const RunResult& result) {
  const auto& totals = result.totals;
  return {totals[Metric::events], totals[Metric::hits_in], totals[Metric::hits_in_events], hits_lost(totals.counters)};
}

/// Shows how the run is set up, on the terminal and the monitor.
class ShownSetup final : public SetupWatch {
 public:
  /// `before`: is reset when live sources begin to receive. All arguments must outlive this object.
  ShownSetup(BeforeSlices& before, RunWatch& watch, RunView& view, const OutputSettings& output, bool first_rank)
      : before_(before), watch_(watch), view_(view), output_(output), first_rank_(first_rank) {}

  void expect(const RunSetup& expected) override {
    if (expected.live) {
      before_.reset();
      set_log_times();
    }
    marks_.emplace(output_.file, expected, first_rank_, output_.resume);
    view_.announce(expected);
  }
  void wait(std::size_t live, std::size_t known) override {
    watch_.turn();
    view_.wait(live, known);
  }
  void hear(SourceId source, const PeerPlace& place) override { marks_->hear(source, place); }
  [[nodiscard]] bool waits_no_longer() const override { return view_.waits_no_longer(); }
  /// After expect().
  [[nodiscard]] ListeningMarks& marks() { return *marks_; }
  /// The sources are open: see ListeningMarks::keep().
  void opened(const RunSetup& setup) {
    const auto heard = [](const SourceInfo& stream) { return stream.live && stream.first_epoch; };
    if (std::ranges::any_of(setup.streams, heard)) marks_->keep();
  }

 private:
  BeforeSlices& before_;
  RunWatch& watch_;
  RunView& view_;
  const OutputSettings& output_;
  bool first_rank_;
  std::optional<ListeningMarks> marks_;
};

RunDescription describe_run(const RunConfig& config) {
  RunDescription run;
  run.name = config.output.file;
  run.number = config.output.run_number;
  run.comment = config.output.run_comment;
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

/// Collective.
void begin_view(RunView& view, const RunConfig& config, const RunSetup& setup, const std::vector<RunRecord>& records,
                const std::vector<Resumption>& resumptions, Session& session, const Collective& ranks) {
  auto counted = config.view.monitor ? histograms_before(config.output, records, resumptions, ranks)
                                     : std::vector<KindHistograms>();
  const RunTracker tracker(config.sources.duration, resumptions.front().totals.counters);
  view.begin(setup, records.front(), tracker, session, std::move(counted));
}

/// The outputs are locked. `before` is reset here.
RunEnding run_once(RunConfig config, const RunSurroundings& around, BeforeSlices& before,
                   const Communicator& communicator) {
  const bool first = communicator.rank() == 0;
  const auto& output = config.output;
  auto& watch = around.watch;
  RunView view(config.view, describe_run(config), around.monitor, around.desk, communicator);
  const bool continues = output.resume;
  if (output.resume && output.force) choose_by_what_is_there(config, communicator);
  if (output.resume && has_live_sources(config.sources.uris)) {
    const auto ended = find_complete_runs(output, communicator);
    require_undamaged(output, ended, communicator);
    if (all_complete(ended)) return end_now(output, ended, before, watch, communicator);
    const auto& ended_before = ended.front().before;
    config.sources.had_payload = communicator.any(ended_before.with_payload);
    for (const auto& source : ended_before.sources) config.sources.uris_before.push_back(source.uri);
  }
  const auto backend = exchange_backend();
  ShownSetup shown(before, watch, view, output, first);
  RunSetup setup = set_up_run(config.sources, config.building, config.exchange, communicator, shown);
  shown.opened(setup);
  if (around.begin) setup.first_slice = *around.begin;
  require_alarm_sources(config.view.alarms, setup.sources.size());
  watch.set_roles(setup.roles);
  report_place(setup, communicator);
  show_labels(setup);
  auto records = describe(output, setup);
  const auto resumptions = resume_run(output, setup, records, communicator);
  if (all_complete(resumptions)) return end_now(output, resumptions, before, watch, communicator);
  protect_ranks(config, setup, communicator);
  if (first) report_setup(setup, backend);
  if (first && config.repeats) report_changes(config.config_file, records.front());
  const auto pasts = find_live_pasts(setup, resumptions, continues, shown.marks(), communicator);
  if (any_resumes(resumptions) || !pasts.empty()) continue_from(resumptions, setup, records);
  if (output.has_companions() || output.tap) setup.event_files = agreed_event_file_run(records.front(), communicator);
  auto taps = output.tap ? RunTaps(*output.tap, setup.event_files, setup.roles, communicator) : RunTaps();
  auto replies = output.reply ? RunReplies(*output.reply, setup, communicator) : RunReplies();
  MpiNetwork network(communicator);
  Idle idle;
  Session session(session_settings(config.sources, config.building, config.exchange, config.view, setup),
                  {network, watch, idle});
  prepare_output(config, setup, records, resumptions, communicator);
  prepare_live_sources(output.file, setup, pasts);
  shown.marks().begin();
  begin_view(view, config, setup, records, resumptions, session, communicator);
  const auto rank_run = begin_roles(output, setup, resumptions, taps, replies, session);
  if (!rank_run) return {kExitStopped};
  const PutsEnd puts_end(session.wiring().data());
  report_crowding(communicator);
  before.reset();
  const auto work = [&]() -> RunEnding {
    SafeWork safe_work(output, setup, session, first);
    const auto results =
        build_events(*rank_run, config.building.detector, setup, resumptions, view, safe_work, communicator);
    const auto& control = session.control();
    const int code =
        end_run(output, {setup, results, records, backend, control.stopped_by()}, watch, view, communicator);
    safe_work.end(code);
    return {code, control.stopped_by(), control.stop_cause(), control.end_slice(), totals_of(results.front())};
  };
  return seen_to_fail(view, [&] { return with_losses_reported(watch, work); });
}

int run(const RunConfig& config, BeforeSlices& before, const Communicator& communicator) {
  RunWatch watch(config.stalls, communicator);
  const auto once = [&](const RunConfig& one, const RunSurroundings& around) {
    return with_losses_reported(watch, [&] { return run_once(one, around, before, communicator); });
  };
  if (config.series) {
    set_log_times();
    // Once the hook has started the front ends, it must also stop them.
    if (config.series->starts_idle || !config.series->hook.words.empty()) before.reset();
    return run_series(config, once, describe_run(config), watch, communicator);
  }
  const auto locks = lock_outputs(config, communicator);
  const auto monitor = open_monitor(config.view, describe_run(config), nullptr, communicator);
  return once(config, {watch, monitor.get()}).code;
}

/// Open MPI's mpirun treats any nonzero exit code as a failure, and says so below our last line.
void explain_code(int code) {
  if (code != kExitLosses || !launched() || std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return;
  log::info("the run is complete, with losses, all counted: exit code 3, which Open MPI reports as 'aborted'");
}

}  // namespace

int run_command(int argc, const char* const* argv) {
  catch_stop_signals();
  BeforeSlices before(std::in_place, kExitStopped, launched() ? "" : kNotBegun);
  return run_inside_mpi<RunConfig>(
      "run",
      [&] {
        auto config = parse_run_config(argc, argv);
        if (config) spare_shared_memory(config->quiet);
        return config;
      },
      [](const RunConfig& config) {
        const auto text = [](bool on) { return on ? "true\n" : "false\n"; };
        const auto& output = config.output;
        return output.setup + "resume = " + text(output.resume) + "force = " + text(output.force);
      },
      [&](const RunConfig& config, const Communicator& communicator) {
        if (config.quiet) log_errors_only();
        if (config.verbose) log_details();
        const int code = run(config, before, communicator);
        if (communicator.rank() == 0) explain_code(code);
        return code;
      });
}

}  // namespace eventloom
