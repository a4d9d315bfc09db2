#include "app/run/run_watch.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "app/command/mpi_command.hpp"
#include "core/runtime/activity.hpp"
#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/host_name.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/unreachable_rank.hpp"

namespace eventloom {

namespace {

/// How long the main thread may take to end the program when another rank is lost.
constexpr double kSecondsToAbort = 3;
/// Together several times as long as the watchdog takes to notice a loss.
constexpr int kLooksForLoss = 50;
constexpr auto kLooksForLossApart = std::chrono::milliseconds(10);
constexpr std::size_t kNumbersShown = 4;

/// Appends the roles of one kind that a rank plays, as in "sources 0,4". `n`: number of such roles in the run.
template <class RoleId>
void add_roles(std::string& text, const char* what, std::uint32_t n, int rank, const Roles& roles) {
  std::string numbers;
  std::size_t found = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    const RoleId id{static_cast<decltype(RoleId{}.value)>(i)};
    if (roles.rank_of(id) != rank) continue;
    if (++found <= kNumbersShown) numbers += fmt::format("{}{}", found == 1 ? "" : ",", i);
  }
  if (found == 0) return;
  text += fmt::format("{}{}{} {}{}", text.empty() ? "" : "; ", what, found == 1 ? "" : "s", numbers,
                      found > kNumbersShown ? ",..." : "");
}

}  // namespace

std::string plays(const Roles& roles, int rank) {
  std::string text;
  add_roles<SourceId>(text, "source", roles.sources, rank, roles);
  add_roles<BuilderId>(text, "builder", roles.builders, rank, roles);
  add_roles<FilterId>(text, "filter", roles.filters, rank, roles);
  return text.empty() ? "no role" : text;
}

RunWatch::RunWatch(StallSettings stalls, const Collective& ranks)
    : rank_(ranks.rank()),
      hosts_(ranks.all_gather(host_name())),
      stalls_(std::move(stalls)),
      peers_(find_peers(ranks)),
      watchdog_(watchdog_settings()) {}

/// Process numbers are comparable only within a PID namespace: containers on one host may number differently.
std::vector<Watchdog::Peer> RunWatch::find_peers(const Collective& ranks) const {
  std::error_code error;
  const auto space = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  const auto here = hosts_[static_cast<std::size_t>(rank_)] + " " + space;
  const auto places = ranks.all_gather(here);
  const auto processes = ranks.all_gather(this_process());
  std::vector<Watchdog::Peer> peers;
  for (int r = 0; r < ranks.size(); ++r) {
    const auto at = static_cast<std::size_t>(r);
    if (r == rank_ || places[at] != here) continue;
    peers.push_back({r, processes[at]});
  }
  return peers;
}

Watchdog::Settings RunWatch::watchdog_settings() {
  Watchdog::Settings watch;
  watch.stall_warning = stalls_.warning;
  watch.peers = peers_;
  watch.stuck = [this](double seconds, const CurrentActivity& activity) { report_stuck(seconds, activity); };
  watch.stopped = [this](int rank, ProcessState state, double seconds) { report_stopped(rank, state, seconds); };
  watch.lost = [this](int rank) { report_lost(rank); };
  return watch;
}

void RunWatch::set_roles(const Roles& roles) {
  const std::lock_guard lock(roles_mutex_);
  roles_ = roles;
}

std::string RunWatch::name(int rank) const {
  const std::lock_guard lock(roles_mutex_);
  const auto& host = hosts_[static_cast<std::size_t>(rank)];
  if (!roles_) return fmt::format("rank {} on {}", rank, host);
  return fmt::format("rank {} ({}) on {}", rank, plays(*roles_, rank), host);
}

bool RunWatch::is_here(int rank) const {
  return std::ranges::find(peers_, rank, &Watchdog::Peer::rank) != peers_.end();
}

bool RunWatch::has_reported(int rank) const {
  const auto peer = std::ranges::find(peers_, rank, &Watchdog::Peer::rank);
  return peer != peers_.end() && process_state(peer->process) != ProcessState::running;
}

std::optional<int> RunWatch::lost_peer() const {
  const int rank = lost_peer_;
  return rank < 0 ? std::nullopt : std::optional(rank);
}

bool RunWatch::report_unreachable(int rank, const std::string& why) {
  const bool any = rank == kAnyRank;
  if (any || is_here(rank)) {
    for (int i = 0; i < kLooksForLoss && !has_lost_peer(); ++i) {
      watchdog_.turn();  // this rank is not stuck
      std::this_thread::sleep_for(kLooksForLossApart);
    }
  }
  if (has_lost_peer()) return true;
  const bool all_here = peers_.size() + 1 == hosts_.size();
  if (all_here || is_here(rank) || rank == rank_) return false;
  if (!quiet_) {
    log::error("{} cannot be reached ({}): the run ends; {}", any ? "another rank" : name(rank), why, stalls_.advice);
  }
  return true;
}

/// Describes the rank that blocks the main thread, which is in `activity`: the rank it waits for, or this one.
std::string RunWatch::stall(const CurrentActivity& activity, double seconds) const {
  if (activity.about >= 0) {
    return fmt::format("{} has kept rank {} waiting for {:.1f} s", name(activity.about), rank_, seconds);
  }
  const std::string_view what = activity.what;
  return fmt::format("{} has made no progress for {:.1f} s{}{}", name(rank_), seconds, what.empty() ? "" : ": ", what);
}

/// Whether this is the lowest rank of the host that can report.
bool RunWatch::speaks_for_host(int rank) const {
  return std::ranges::none_of(peers_, [&](const Watchdog::Peer& peer) {
    return peer.rank < rank_ && peer.rank != rank && process_state(peer.process) == ProcessState::running;
  });
}

// The functions below run on the watchdog's thread.

void RunWatch::report_stuck(double seconds, const CurrentActivity& activity) {
  // The rank that it waits for reports its own state.
  const bool waits = std::string_view(activity.what) == kWaitingForRanks;
  if (quiet_ || (waits && !has_lost_peer())) return;
  const auto what = stall(activity, seconds);
  log::warn(what);
  if (in_loop_ || has_lost_peer()) end_after(seconds, what);
}

void RunWatch::report_stopped(int rank, ProcessState state, double seconds) {
  if (quiet_ || !speaks_for_host(rank)) return;
  const bool stopped = state == ProcessState::stopped;
  const auto what =
      fmt::format("{} has been {} for {:.1f} s{}", name(rank), stopped ? "stopped" : "waiting for its disk", seconds,
                  stopped ? " (SIGCONT resumes it)" : "");
  log::warn("{}; the run waits for it", what);
  if (!in_loop_) end_after(seconds, what);  // within the loop, the main thread does this
}

void RunWatch::report_lost(int rank) {
  if (quiet_ || has_lost_peer()) return;  // only the first loss is reported
  if (watchdog_.was_away()) be_quiet();   // this rank was stopped, and the others have ended the run
  if (!quiet_ && speaks_for_host(rank)) log::error("{} is lost: its process has ended; {}", name(rank), stalls_.advice);
  lost_peer_ = rank;
}

/// Ends the program if the main thread cannot.
void RunWatch::end_after(double seconds, const std::string& what) {
  const double limit = std::chrono::duration<double>(stalls_.timeout).count();
  const bool too_long = limit > 0 && seconds >= limit;
  if (!too_long && !(has_lost_peer() && seconds >= kSecondsToAbort)) return;
  log::error("{}{}: the run ends; {}", what, too_long ? ", longer than --stall-timeout" : "", stalls_.advice);
  std::_Exit(kExitStopped);
}

}  // namespace eventloom
