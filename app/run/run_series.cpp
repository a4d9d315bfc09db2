#include "app/run/run_series.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

#include "app/observe/utc_text.hpp"
#include "app/run/idle_watch.hpp"
#include "app/run/run_begin.hpp"
#include "app/run/series_settings.hpp"
#include "core/control/agreement.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/failure.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"
#include "io/files/durable.hpp"
#include "io/files/folder.hpp"
#include "io/files/output_lock.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

namespace {

/// How often to poll for requests between two runs.
constexpr auto kRequestLook = std::chrono::milliseconds(5);
/// Bytes that may wait between two runs for the first run to say how they are numbered.
constexpr std::uint64_t kMostWaiting = std::uint64_t{64} << 20;

/// A run to begin. Only rank 0 has the texts.
struct NextRun {
  std::uint64_t number = 0;
  bool follows = false;  ///< it begins where the last one ended
  std::string comment = {};
  std::string by = {};
};

/// Rank 0's decision between two runs.
struct Decision {
  std::uint64_t number = 0;  ///< number of the run to begin; 0: none
  bool leaves = false;       ///< the program ends
  bool looks = false;        ///< the sources are looked at
};

bool ends_program(const RunEnding& ending) {
  if (ending.code != kExitOk && ending.code != kExitLosses) return true;
  const auto cause = ending.cause;
  return cause && *cause != Cause::time && *cause != Cause::stop_run && *cause != Cause::next_run;
}

/// Adds what is known of the sources before the first run opens them. Files to follow need not be there yet.
RunDescription with_sources(RunDescription run, const RunConfig& config, int ranks) {
  try {
    const auto specs = expand_sources(config.sources.uris);
    run.roles = assign_roles(config.exchange, specs, ranks);
    for (const auto& spec : specs) run.sources.push_back(spec.uri.text());
  } catch (const UserError&) {
    // The first run reports it.
  }
  return run;
}

class SeriesOfRuns {
 public:
  SeriesOfRuns(const RunConfig& config, const RunOnce& run_once, const RunDescription& description, RunWatch& watch,
               const Communicator& ranks)
      : config_(config),
        series_(*config.series),
        run_once_(run_once),
        watch_(watch),
        ranks_(ranks),
        first_(ranks.rank() == 0) {
    config_.sources.shelf = &shelf_;
    agree(ranks_, [&] { open_folder(); });
    monitor_ =
        open_monitor(config.view, with_sources(description, config, ranks_.size()), first_ ? &desk_ : nullptr, ranks_);
  }

  int run();

 private:
  void open_folder();
  void report_unknown();
  [[nodiscard]] bool has_live_boards() const;
  void end_program();
  [[nodiscard]] std::optional<NextRun> take_request();
  std::optional<NextRun> wait_for_request();
  [[nodiscard]] Decision decide();
  [[nodiscard]] RunConfig config_of(const NextRun& next) const;
  bool prepare(const NextRun& next);
  RunEnding run_one(const NextRun& next);
  [[nodiscard]] std::optional<NextRun> after(const RunEnding& ending);
  [[nodiscard]] std::optional<NextRun> shared(std::optional<NextRun> next) const;
  void begin_log(const NextRun& next, const std::string& file);
  void end_log(const RunEnding& ending);
  void fail_log(const std::string& why);
  void close_ended();
  void close_idle_feeds();
  void reopen_ended();
  void call_stop_hook(const NextRun& run);
  [[nodiscard]] std::string begin_idle();
  void open_peers();
  void look_at_sources(IdleWatch& idle);

  RunConfig config_;
  const SeriesSettings& series_;
  const RunOnce& run_once_;
  RunWatch& watch_;
  const Communicator& ranks_;
  bool first_;
  FeedShelf shelf_;
  std::uint64_t between_ = 0;     ///< hits of this rank's sources since the last run
  bool tried_ = false;            ///< a run has begun, or failed to
  std::optional<SliceId> begin_;  ///< end of the last run, if the next may begin there
  OutputLocks locks_;             ///< held for the next run
  int worst_ = kExitOk;
  // Rank 0 only:
  std::unique_ptr<OutputLock> lock_;
  RunDesk desk_;
  std::unique_ptr<Monitor> monitor_;
  std::uint64_t last_ = 0;      ///< highest number in use
  bool killed_before_ = false;  ///< the last program was killed, and no run has begun since
  LoggedRun logged_;
  std::string last_end_;  ///< how the last run ended, in words
};

/// Rank 0 only.
void SeriesOfRuns::open_folder() {
  if (!first_) return;
  create_folder_durably(series_.folder);
  lock_ = std::make_unique<OutputLock>(run_log_of(series_.folder));
  const auto log = open_run_log(series_.folder);
  killed_before_ = was_killed(series_.folder) && has_live_boards();
  if (killed_before_) report_unknown();
  last_ = highest_run(series_.folder, log);
  desk_.wait(last_);
  // The first run is begun like any other, so that no other request is accepted meanwhile.
  const auto refusal = series_.starts_idle ? std::string() : desk_.ask({.from = "the start of the program"});
  if (!refusal.empty()) throw UserError("'" + series_.folder + "': " + refusal);
  for (const auto& run : log) {
    if (run.ended.empty())
      log::warn(
          "run {} has no end in the log: the program that built it was killed; 'eventloom merge --partial {}' saves "
          "what "
          "it had finished",
          run.number, (std::filesystem::path(series_.folder) / run.file).string());
  }
}

/// Rank 0 only. Each program says so until one begins a run, whose entry in the log then does.
void SeriesOfRuns::report_unknown() {
  log::warn(
      "the program before was killed: the hits since then, and those that it had not finished, are in no run, and "
      "their number is unknown");
  worst_ = std::max<int>(worst_, kExitLosses);
}

/// Whether a source sends whether or not a run is there to receive it.
bool SeriesOfRuns::has_live_boards() const {
  return std::ranges::any_of(expand_sources(config_.sources.uris),
                             [](const SourceSpec& spec) { return is_live(spec.uri) && !is_followed(spec.uri); });
}

/// Data that arrive after a program has logged its end belong to no run.
void SeriesOfRuns::end_program() {
  if (first_ && last_ != 0 && !killed_before_) log_program_end(series_.folder, utc_now());
}

/// Rank 0 only.
std::optional<NextRun> SeriesOfRuns::take_request() {
  auto request = desk_.take_begin();
  if (!request) return std::nullopt;
  return NextRun{request->number.value_or(last_ + 1), false, std::move(request->comment), std::move(request->from)};
}

int SeriesOfRuns::run() {
  auto next = series_.starts_idle ? wait_for_request() : shared(first_ ? take_request() : std::nullopt);
  while (next) {
    if (!prepare(*next)) {
      next = wait_for_request();
      continue;
    }
    const auto ending = run_one(*next);
    worst_ = std::max(worst_, ending.code);
    agree_at_rest(ranks_, [&] { call_stop_hook(*next); });
    if (ends_program(ending)) break;
    next = after(ending);
    if (!next) next = wait_for_request();
  }
  agree_at_rest(ranks_, [&] { end_program(); });
  worst_ = ranks_.broadcast(worst_);
  if (monitor_) {
    auto last = std::make_shared<RunSnapshot>();
    last->condition.state = "ended";
    last->exit_code = worst_;
    monitor_->conclude(std::move(last));
  }
  return worst_;
}

/// Collective: what rank 0 knows, on all ranks.
std::optional<NextRun> SeriesOfRuns::shared(std::optional<NextRun> next) const {
  struct Plain {
    std::uint64_t number = 0;
    std::uint64_t follows = 0;
  };
  Plain plain;
  if (next) plain = {next->number, next->follows ? 1U : 0U};
  plain = ranks_.broadcast(plain);
  if (plain.number == 0) return std::nullopt;
  if (!next) next.emplace();
  next->number = plain.number;
  next->follows = plain.follows != 0;
  return next;
}

/// Rank 0 only.
Decision SeriesOfRuns::decide() {
  for (const auto& request : monitor_->take_commands()) {
    if (request.command == Command::stop || request.command == Command::end) return {.leaves = true};
  }
  const auto next = take_request();
  if (!next) return {};
  logged_.by = next->by;
  logged_.comment = next->comment;
  return {.number = next->number};
}

/// Discards what arrives meanwhile. Returns std::nullopt when the program ends.
std::optional<NextRun> SeriesOfRuns::wait_for_request() {
  const auto message = begin_idle();
  IdleWatch idle(shelf_, ranks_, message);
  for (;;) {
    watch_.turn();
    between_ += shelf_.discard();
    Decision decision;
    if (first_) {
      decision = decide();
      decision.looks = idle.due(std::chrono::steady_clock::now());
    }
    decision = ranks_.broadcast(decision);
    if (ranks_.any(stop_signal() != 0) || decision.leaves) return std::nullopt;
    if (decision.number != 0) return NextRun{decision.number, false, logged_.comment, logged_.by};
    if (decision.looks) look_at_sources(idle);
    std::this_thread::sleep_for(kRequestLook);
  }
}

/// Returns what the program is waiting for, in words.
std::string SeriesOfRuns::begin_idle() {
  begin_.reset();
  if (!tried_) open_peers();
  if (!first_) return {};
  desk_.wait(last_);
  monitor_->open_commands();
  auto message =
      fmt::format("{}waiting for the next run, number {}", last_end_.empty() ? "" : last_end_ + "; ", last_ + 1);
  log::info("{}", message);
  return message;
}

/// Before the first run: shows which front ends are there. Their data belong to no run, those in files do.
void SeriesOfRuns::open_peers() {
  try {
    keep_feeds(config_.sources, config_.exchange, ranks_, FeedsKept::of_peers);
  } catch (const UserError& error) {
    if (first_) log::warn("{}; the first run tries again", error.what());
  }
}

/// Collective.
void SeriesOfRuns::look_at_sources(IdleWatch& idle) {
  const auto snapshot = idle.look(std::chrono::steady_clock::now());
  if (snapshot) monitor_->publish(snapshot);
  if (ranks_.any(shelf_.close_waiting(kMostWaiting))) open_peers();
}

RunConfig SeriesOfRuns::config_of(const NextRun& next) const {
  auto config = config_;
  config.output = output_of_run(config_.output, series_, next.number, next.comment);
  return config;
}

/// Collective. Opens the sources and locks the outputs, then calls the hook. Returns false if the run cannot begin,
/// unless it is the first of the program, whose errors end it.
bool SeriesOfRuns::prepare(const NextRun& next) {
  const bool may_fail = std::exchange(tried_, true) || series_.starts_idle;
  std::string failure;
  try {
    if (!next.follows) close_idle_feeds();
    keep_feeds(config_.sources, config_.exchange, ranks_);
    locks_ = lock_outputs(config_of(next), ranks_);
  } catch (const UserError& error) {
    if (!may_fail) throw;
    failure = error.what();
  }
  agree_at_rest(ranks_, [&] {
    if (!first_ || !failure.empty()) return;
    const auto output = output_of_run(config_.output, series_, next.number, next.comment);
    failure = call_hook(series_.hook, next.number, "start", output.file, next.comment);
  });
  failure = ranks_.broadcast(failure);
  if (failure.empty()) return true;
  locks_.clear();
  if (first_) log::error("run {} does not begin: {}", next.number, failure);
  last_end_ = fmt::format("run {} did not begin: {}", next.number, failure);
  return false;
}

/// The hook has started the front ends: it must stop them if the run fails.
RunEnding SeriesOfRuns::run_one(const NextRun& next) {
  const auto config = config_of(next);
  const auto locks = std::exchange(locks_, {});
  logged_ = {.number = next.number, .by = next.by, .comment = next.comment};
  try {
    logged_.hits_between = ranks_.sum(std::exchange(between_, 0));
    agree(ranks_, [&] {
      if (first_) begin_log(next, config.output.file);
    });
    auto ending =
        run_once_(config, {watch_, monitor_.get(), first_ ? &desk_ : nullptr, next.follows ? begin_ : std::nullopt});
    begin_ = ending.end;
    agree(ranks_, [&] { end_log(ending); });
    reopen_ended();
    return ending;
  } catch (...) {
    fail_log(Failure::of(std::current_exception()).text);
    call_stop_hook(next);
    throw;
  }
}

/// Rank 0 only.
void SeriesOfRuns::begin_log(const NextRun& next, const std::string& file) {
  last_ = next.number;
  desk_.begin(next.number);
  logged_.file = std::filesystem::path(file).filename().string();
  logged_.began = utc_now();
  logged_.unknown_between = std::exchange(killed_before_, false);
  log_begin(series_.folder, logged_);
  log::info(
      "run {}, begun by {}: '{}'{}", next.number, next.by, file,
      logged_.hits_between == 0
          ? ""
          : fmt::format("; {} hits arrived before it, while no run was active, and are in none", logged_.hits_between));
}

void SeriesOfRuns::end_log(const RunEnding& ending) {
  if (!first_) return;
  logged_.ended = utc_now();
  logged_.why = ending.stopped_by.empty() ? "the end of its sources" : ending.stopped_by;
  logged_.ended_by = desk_.ended_by();
  logged_.exit_code = ending.code;
  logged_.totals = ending.totals;
  log_end(series_.folder, logged_);
  last_end_ = fmt::format("run {} was ended by {}, exit code {}", logged_.number, logged_.why, ending.code);
}

/// Rank 0 only. An error of the log must not hide the error that ended the run.
void SeriesOfRuns::fail_log(const std::string& why) {
  if (!first_ || logged_.began.empty()) return;
  logged_.ended = utc_now();
  logged_.why = why;
  try {
    log_end(series_.folder, logged_);
  } catch (const UserError& error) {
    log::error("{}", error.what());
  }
}

/// After next-run, the next run begins at once. A start that was asked for meanwhile begins one like any other, after
/// the data that belong to no run have been discarded.
std::optional<NextRun> SeriesOfRuns::after(const RunEnding& ending) {
  auto next = first_ && ending.cause == Cause::next_run ? take_request() : std::nullopt;
  if (next) {
    next->follows = true;
    monitor_->open_commands();
  }
  return shared(std::move(next));
}

/// Followed files do not begin again.
void SeriesOfRuns::close_ended() {
  std::vector<std::optional<std::uint32_t>> ports;
  for (const auto& spec : expand_sources(config_.sources.uris)) {
    ports.push_back(is_followed(spec.uri) ? std::nullopt : std::optional(spec.home));
  }
  between_ += shelf_.close_ended(ports);
}

/// A run that begins after a pause has its own connections to peers that have ended meanwhile, or of which everything
/// still waits.
void SeriesOfRuns::close_idle_feeds() {
  close_ended();
  shelf_.close_waiting(0);
}

/// A peer that has ended its stream may begin another for the next run, and is received from now on.
void SeriesOfRuns::reopen_ended() {
  close_ended();
  try {
    keep_feeds(config_.sources, config_.exchange, ranks_);
  } catch (const UserError& error) {
    if (first_) log::warn("{}; the next run tries again", error.what());
  }
}

/// Rank 0 only.
void SeriesOfRuns::call_stop_hook(const NextRun& run) {
  if (!first_) return;
  const auto output = output_of_run(config_.output, series_, run.number, run.comment);
  const auto failure = call_hook(series_.hook, run.number, "stop", output.file, run.comment);
  if (failure.empty()) return;
  log::error("{}; the files of run {} are not affected", failure, run.number);
  worst_ = std::max<int>(worst_, kExitUsage);
}

}  // namespace

int run_series(const RunConfig& config, const RunOnce& run_once, const RunDescription& description, RunWatch& watch,
               const Communicator& ranks) {
  return SeriesOfRuns(config, run_once, description, watch, ranks).run();
}

}  // namespace eventloom
