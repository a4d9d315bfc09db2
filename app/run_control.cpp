#include "app/run_control.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "core/mpi/environment.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Healthy ranks answer in a few milliseconds.
constexpr auto kNotice = milliseconds(200);
/// A rank that was asked to end looks after silent ones: those are what it is ended for.
constexpr auto kSilentAtTermination = milliseconds(400);
/// For the watchdogs of all ranks to see that one is lost.
constexpr auto kToSeeLoss = milliseconds(500);
constexpr auto kLongestNotice = milliseconds(2000);
/// How long the main thread gets to end the program when another rank is lost.
constexpr double kSecondsToAbort = 3;

constexpr const char* kHowToGoOn = "what is finished is safe; the same command with --resume goes on from there";

double in_seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// Whether something that has lasted `now` and was told when it had lasted `told` is due again.
bool due(nanoseconds now, nanoseconds told, nanoseconds first) {
  return first.count() > 0 && now >= std::max(first, 2 * told);
}

void add_roles(std::string& text, const char* what, std::uint32_t from, std::uint32_t to, int rank, int ranks) {
  std::string numbers;
  std::size_t n = 0;
  const auto step = static_cast<std::uint32_t>(ranks);
  const auto first = from + (static_cast<std::uint32_t>(rank) + step - from % step) % step;
  for (std::uint32_t role = first; role < to; role += step) {
    if (++n <= 4) numbers += fmt::format("{}{}", n == 1 ? "" : ",", role - from);
  }
  if (n == 0) return;
  text += fmt::format("{}{}{} {}{}", text.empty() ? "" : "; ", what, n == 1 ? "" : "s", numbers, n > 4 ? ",..." : "");
}

}  // namespace

std::string rank_name(const Roles& roles, const std::vector<std::string>& hosts, int rank) {
  std::string plays;
  const auto builders = roles.sources + roles.builders;
  add_roles(plays, "source", 0, roles.sources, rank, roles.ranks);
  add_roles(plays, "builder", roles.sources, builders, rank, roles.ranks);
  add_roles(plays, "filter", builders, builders + roles.filters, rank, roles.ranks);
  return fmt::format("rank {} ({}) on {}", rank, plays.empty() ? "no role" : plays,
                     hosts[static_cast<std::size_t>(rank)]);
}

RunControl::RunControl(RunControlSettings settings, const Communicator& communicator)
    : settings_(std::move(settings)),
      communicator_(communicator),
      rank_(communicator.rank()),
      heartbeat_(communicator, kNotice, kLongestNotice) {
  watch_processes();
}

void RunControl::watch_processes() {
  const auto me = this_process();
  // Containers on one host may number their processes differently.
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  const auto here = settings_.hosts[static_cast<std::size_t>(rank_)] + " " + space;
  const auto places = communicator_.all_gather(here);
  const auto processes = communicator_.all_gather(fmt::format("{} {}", me.pid, me.start_time));
  for (int r = 0; r < communicator_.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (r == rank_ || places[at] != here) continue;
    Watchdog::Peer peer;
    peer.rank = r;
    std::istringstream(processes[at]) >> peer.process.pid >> peer.process.start_time;
    peers_.push_back(peer);
  }
  Watchdog::Settings watch;
  watch.stall_warning = settings_.stall_warning;
  watch.peers = peers_;
  watch.stuck = [this](double seconds, const std::string& activity) { tell_stuck(seconds, activity); };
  watch.lost = [this](int rank) { tell_lost(rank); };
  watch.stopped = [this](int rank, ProcessState state, double seconds) { tell_stopped(rank, state, seconds); };
  watchdog_ = std::make_unique<Watchdog>(std::move(watch));
}

void RunControl::begin_closing() { waits_for_first_rank_ = rank_ != 0; }

void RunControl::stop_writing(const std::string& why) {
  spdlog::error("{}: {}; the run stops in good order", name(rank_), why);
  stop_asked_ = kStopWriter;
}

void RunControl::fail(const UserError& error) { error_ = error.what(); }

RankStatus RunControl::status(bool done) const {
  RankStatus status;
  status.begun_end = sources_ == nullptr ? 0 : sources_->begun_end().value;
  status.progress = progress_;
  status.stop = stop_asked_ != 0 ? stop_asked_ : stop_signal();
  status.done = done ? 1 : 0;
  status.failed = error_.empty() ? 0 : 1;
  status.frozen = freezing_ ? 1 : 0;
  status.keeps_a_pace = sources_ != nullptr && sources_->keeps_a_pace() ? 1 : 0;
  return status;
}

bool RunControl::over(SteadyTime now, bool done, std::size_t work) {
  watchdog_->turn();
  progress_ += work;
  if (peer_lost_) end_after_loss(now);
  if (const auto verdict = heartbeat_.do_work(now, status(done))) {
    follow(*verdict);
    look_for_progress(now, *verdict);
  }
  if (now >= next_silence_look_) {
    next_silence_look_ = now + kNotice / 4;
    look_for_silence(now);
  }
  return over_;
}

/// A moment later, so that the others do not take this rank for the one that was lost.
void RunControl::end_after_loss(SteadyTime now) {
  if (loss_seen_ == SteadyTime{}) loss_seen_ = now;
  if (now - loss_seen_ >= kToSeeLoss) MpiEnvironment::abort(kExitStopped);
}

/// Every rank gets the same verdicts, so that they all do this in the same round.
void RunControl::follow(const Verdict& verdict) {
  over_ = verdict.all_done != 0 || verdict.any_failed != 0;
  if (over_ || stopping_) return;
  if (freezing_) {
    if (verdict.all_frozen == 0) return;
    if (sources_ != nullptr) sources_->stop_at({verdict.begun_end});
    stopping_ = true;
    if (rank_ == 0) spdlog::info("the sources end before slice {}; what is in flight is built", verdict.begun_end);
  } else if (verdict.stop != 0) {
    begin_stop(verdict);
  }
}

void RunControl::begin_stop(const Verdict& verdict) {
  freezing_ = true;
  if (sources_ != nullptr) sources_->freeze();
  stopped_by_ = verdict.stop == kStopWriter ? "a full or failing disk" : signal_name(verdict.stop);
  if (rank_ == 0) spdlog::warn("{}, at {}: stopping in good order", stopped_by_, name(verdict.stop_rank));
}

void RunControl::look_for_silence(SteadyTime now) {
  const auto silence = heartbeat_.silence(now);
  if (silence.ranks.empty()) {
    told_silence_ = {};
    return;
  }
  if (stop_signal() == SIGTERM && silence.lasts >= kSilentAtTermination) tell_on_termination(silence);
  if (due(silence.lasts, told_silence_, settings_.stall_warning)) {
    told_silence_ = silence.lasts;
    tell_of_silence(silence);
  }
  if (settings_.stall_timeout.count() > 0 && silence.lasts >= settings_.stall_timeout) {
    if (speaks_about(silence.ranks.front())) {
      spdlog::error("{} has been silent for {:.0f} s, longer than --stall-timeout: the run ends; {}",
                    name(silence.ranks.front()), in_seconds(silence.lasts), kHowToGoOn);
    }
    MpiEnvironment::abort(kExitStopped);
  }
}

/// Launchers end all ranks with SIGTERM when they have lost one. Those of this host are the watchdogs' affair.
void RunControl::tell_on_termination(const Heartbeat::Silence& silence) {
  if (told_termination_) return;
  told_termination_ = true;
  for (const int rank : silence.ranks) {
    if (!speaks_about(rank) || is_here(rank)) continue;
    spdlog::error("{} has not answered for {:.1f} s while the run is being ended; {}", name(rank),
                  in_seconds(silence.lasts), kHowToGoOn);
  }
}

void RunControl::tell_of_silence(const Heartbeat::Silence& silence) {
  for (const int rank : silence.ranks) {
    if (!speaks_about(rank) || is_told_of(rank)) continue;
    spdlog::warn(
        "{} has not answered for {:.1f} s: it is busy, or its disk, its host or the network is stuck; the run "
        "waits for it",
        name(rank), in_seconds(silence.lasts));
  }
}

/// The watchdogs speak of ranks of this host that do not run.
bool RunControl::is_told_of(int rank) const {
  const auto peer = std::ranges::find(peers_, rank, &Watchdog::Peer::rank);
  return peer != peers_.end() && process_state(peer->process) != ProcessState::running;
}

bool RunControl::is_here(int rank) const {
  return std::ranges::find(peers_, rank, &Watchdog::Peer::rank) != peers_.end();
}

/// All ranks answer and have work, but nothing moves: worth telling, whatever it is.
void RunControl::look_for_progress(SteadyTime now, const Verdict& verdict) {
  if (rank_ != 0) return;
  if (verdict.progress != seen_progress_ || verdict.keeps_a_pace != 0 || moved_ == SteadyTime{}) {
    seen_progress_ = verdict.progress;
    moved_ = now;
    told_standstill_ = {};
  }
  const nanoseconds standstill = now - moved_;
  if (!due(standstill, told_standstill_, settings_.stall_warning)) return;
  told_standstill_ = standstill;
  spdlog::warn("no rank has moved anything for {:.1f} s, though all of them answer; slices up to {} have been begun",
               in_seconds(standstill), verdict.begun_end);
}

/// The lowest rank of the host that can.
bool RunControl::speaks_for_host(int rank) const {
  return std::ranges::none_of(peers_, [&](const Watchdog::Peer& peer) {
    return peer.rank < rank_ && peer.rank != rank && process_state(peer.process) == ProcessState::running;
  });
}

/// Watchdog's thread.
void RunControl::tell_stopped(int rank, ProcessState state, double seconds) const {
  if (!speaks_for_host(rank)) return;
  spdlog::warn("{} {} since {:.1f} s; the run waits for it", name(rank),
               state == ProcessState::stopped ? "is stopped (SIGCONT lets it go on)" : "waits for its disk", seconds);
  if (waits_for_first_rank_) end_if_too_long(seconds);
}

/// Watchdog's thread.
void RunControl::tell_lost(int rank) {
  if (peer_lost_) return;  // the others follow it
  if (speaks_for_host(rank)) spdlog::error("{} is lost: its process has ended; {}", name(rank), kHowToGoOn);
  peer_lost_ = true;
}

/// Watchdog's thread.
void RunControl::tell_stuck(double seconds, const std::string& activity) const {
  if (waits_for_first_rank_ && !peer_lost_) return;  // which tells what it is doing itself
  spdlog::warn("{} has been stuck for {:.1f} s{}", name(rank_), seconds, activity.empty() ? "" : ", " + activity);
  end_if_too_long(seconds);
}

/// Watchdog's thread: where the main thread cannot end the program.
void RunControl::end_if_too_long(double seconds) const {
  const double limit = in_seconds(settings_.stall_timeout);
  const bool too_long = limit > 0 && seconds >= limit;
  if (!too_long && !(peer_lost_ && seconds >= kSecondsToAbort)) return;
  spdlog::error("{}: the run ends; {}", name(rank_), kHowToGoOn);
  std::_Exit(kExitStopped);
}

}  // namespace eventloom
