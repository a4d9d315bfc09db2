#include "core/engine/rank_silence.hpp"

#include <algorithm>
#include <csignal>

#include "core/runtime/clock.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/setting.hpp"

namespace eventloom {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr auto kLookEvery = milliseconds(50);
/// A rank asked to terminate reports ranks silent for this long: they are the likely cause.
constexpr auto kSilentAtTermination = milliseconds(400);
/// Time for all ranks to notice a loss, or to receive the note of the end, before this rank acts on it.
constexpr auto kToBeSeen = milliseconds(500);
/// Longest interval between two turns of a running process; beyond it, the process was stopped or busy.
constexpr auto kLongestTurn = milliseconds(200);

/// Whether to report a condition that has lasted for `now`, and was last reported after `reported`: at `first`, then
/// whenever its length has doubled.
bool due(nanoseconds now, nanoseconds reported, nanoseconds first) {
  return first.count() > 0 && now >= std::max(first, 2 * reported);
}

}  // namespace

/// This rank could not receive from the others while it took no turn.
void RankSilence::begin_turn(SteadyTime now) {
  if (last_turn_ == SteadyTime{}) {
    watch_.enter_loop();
  } else if (now - last_turn_ > kLongestTurn) {
    heartbeat_.leave_out(now - last_turn_);
  }
  last_turn_ = now;
  watch_.turn();
  if (const auto lost = watch_.lost_peer()) end_after_loss(now, *lost);
}

void RankSilence::end_after_loss(SteadyTime now, int lost) {
  if (loss_seen_ == SteadyTime{}) {
    loss_seen_ = now;
    failure_ = watch_.name(lost) + " is lost";
  }
  if (now - loss_seen_ >= kToBeSeen) watch_.end_program();
}

void RankSilence::look(SteadyTime now) {
  if (now < next_look_) return;
  next_look_ = now + kLookEvery;
  if (heartbeat_.reported_to_end()) end_as_reported(now);
  const auto silence = heartbeat_.silence(now);
  if (silence.ranks.empty()) {
    reported_ = {};
    ending_ = {};
    return;
  }
  if (watch_.asked_to_stop() == SIGTERM && silence.lasts >= kSilentAtTermination) report_on_termination(silence);
  if (due(silence.lasts, reported_, watch_.stalls().warning)) {
    reported_ = silence.lasts;
    report(silence);
  }
  const auto limit = watch_.stalls().timeout;
  if (limit.count() > 0 && silence.lasts >= limit) end_after_silence(now, silence);
}

/// Rank 0 may end the program, or only leave the run itself.
void RankSilence::end_as_reported(SteadyTime now) {
  watch_.be_quiet();
  if (reported_to_end_ == SteadyTime{}) reported_to_end_ = now;
  if (now - reported_to_end_ >= 2 * kToBeSeen) watch_.end_program();
}

/// Rank 0 notifies the others before it ends the run.
void RankSilence::end_after_silence(SteadyTime now, const Heartbeat::Silence& silence) {
  const int silent = silence.ranks.front();
  if (ending_ == SteadyTime{}) {
    ending_ = now;
    failure_ = watch_.name(silent) + " has been silent for longer than " + name_of(Setting::stall_timeout);
    watch_.be_quiet();
    if (speaks_about(silent)) {
      log::error("{} has been silent for {:.1f} s, longer than {}: the run ends; {}", watch_.name(silent),
                 in_seconds(silence.lasts), name_of(Setting::stall_timeout), watch_.stalls().advice);
    }
    if (rank_ == 0) heartbeat_.report_to_end();
  }
  if (now - ending_ >= kToBeSeen && (rank_ == 0 || silent == 0)) watch_.end_program();
}

/// Launchers end all ranks with SIGTERM after losing one. The watchdog reports ranks on this host.
void RankSilence::report_on_termination(const Heartbeat::Silence& silence) {
  if (reported_termination_) return;
  reported_termination_ = true;
  for (const int rank : silence.ranks) {
    if (!speaks_about(rank) || watch_.is_here(rank)) continue;
    log::error("{} has not answered for {:.1f} s while the run is being ended; {}", watch_.name(rank),
               in_seconds(silence.lasts), watch_.stalls().advice);
  }
}

void RankSilence::report(const Heartbeat::Silence& silence) {
  for (const int rank : silence.ranks) {
    if (!speaks_about(rank) || watch_.has_reported(rank)) continue;
    log::warn(
        "{} has not answered for {:.1f} s: it is busy, or its disk, its host or the network is stuck; the run waits "
        "for it",
        watch_.name(rank), in_seconds(silence.lasts));
  }
}

/// All ranks answer and have work, but none makes progress: worth a warning, whatever the cause.
void RankSilence::note_round(SteadyTime now, std::uint64_t progress, bool may_rest, std::uint64_t begun_end) {
  if (rank_ != 0) return;
  if (progress != seen_progress_ || may_rest || moved_ == SteadyTime{}) {
    seen_progress_ = progress;
    moved_ = now;
    reported_standstill_ = {};
  }
  const nanoseconds standstill = now - moved_;
  if (!due(standstill, reported_standstill_, watch_.stalls().warning)) return;
  reported_standstill_ = standstill;
  log::warn("no rank has made progress for {:.1f} s, though all of them answer; the slices before {} have been begun",
            in_seconds(standstill), begun_end);
}

}  // namespace eventloom
