#include "core/engine/run_control.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

#include "core/runtime/clock.hpp"
#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"
#include "core/runtime/setting.hpp"
#include "core/runtime/stop_signal.hpp"

namespace eventloom {

namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// Healthy ranks answer in a few milliseconds.
constexpr auto kNotice = milliseconds(200);
constexpr auto kLongestNotice = milliseconds(2000);
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

std::string cause_of(const Request& request) {
  switch (request.cause) {
    case Cause::command: break;
    case Cause::signal: return signal_name(request.signal);
    case Cause::writer: return "a full or failing disk";
    case Cause::judge: return "a failing " + name_of(Setting::filter_command);
    case Cause::time: return "the end of " + name_of(Setting::duration);
    case Cause::stop_run: return "stop-run";
    case Cause::next_run: return "next-run";
  }
  return "a command";
}

}  // namespace

RunControl::RunControl(RankWatch& watch, nanoseconds duration, Network& network)
    : watch_(watch),
      rank_(network.ranks().rank()),
      heartbeat_(network.open_channel(), rank_, network.ranks().size(), kNotice, kLongestNotice),
      duration_(duration) {}

void RunControl::stop_for(Cause cause, const std::string& why) {
  log::error("{}: {}; the run stops cleanly", watch_.name(rank_), why);
  ask(Command::stop, cause);
}

void RunControl::ask(const Request& request) {
  const bool ends = !asked_.empty() && asked_.front().command >= Command::stop;
  if (ends && request.command <= asked_.front().command) return;
  if (request.command >= Command::stop) asked_.clear();
  asked_.push_back(request);
}

void RunControl::ask_for_signal() {
  const int signal = watch_.asked_to_stop();
  if (signal == 0 || std::exchange(signalled_, true)) return;
  const bool asks_for_end = signal == SIGINT || signal == SIGTERM;
  ask(Request{.command = asks_for_end ? Command::end : Command::stop,
              .cause = Cause::signal,
              .signal = static_cast<std::uint8_t>(signal)});
}

RankStatus RunControl::status(bool done) const {
  RankStatus status;
  status.begun_end = sources_ == nullptr ? 0 : sources_->begun_end().value;
  status.progress = progress_;
  status.live_epoch = sources_ == nullptr ? 0 : sources_->live().peer_watermark();
  status.safe_end = safe_end_.value;
  status.live_end = sources_ == nullptr ? 0 : sources_->live().seen_end();
  if (sources_ != nullptr) status.live_votes = sources_->live().votes();
  status.live_full = sources_ != nullptr && sources_->live().any_full() ? 1 : 0;
  if (!asked_.empty()) status.request = asked_.front();
  status.done = done ? 1 : 0;
  status.failed = error_.empty() ? 0 : 1;
  status.frozen = frozen_ ? 1 : 0;
  status.keeps_a_pace = sources_ != nullptr && sources_->keeps_a_pace() ? 1 : 0;
  return status;
}

bool RunControl::over(SteadyTime now, bool done, std::size_t work) {
  if (last_turn_ == SteadyTime{}) {
    watch_.enter_loop();
    begun_ = now;
  }
  if (duration_.count() > 0 && now - begun_ >= duration_ && !std::exchange(time_over_, true)) {
    ask(Command::end, Cause::time);
  }
  ask_for_signal();
  watch_.turn();
  progress_ += work;
  leave_out_absence(now);
  if (const auto lost = watch_.lost_peer()) end_after_loss(now, *lost);
  const auto reports = heartbeat_.reports_made();
  const auto verdict = heartbeat_.do_work(now, status(done));
  if (heartbeat_.reports_made() != reports && !asked_.empty()) asked_.pop_front();
  if (verdict) {
    follow(*verdict);
    look_for_progress(now, *verdict);
  }
  if (now >= next_silence_look_) {
    next_silence_look_ = now + kNotice / 4;
    look_for_silence(now);
  }
  return over_;
}

/// This rank could not receive from the others while it took no turn.
void RunControl::leave_out_absence(SteadyTime now) {
  if (last_turn_ != SteadyTime{} && now - last_turn_ > kLongestTurn) heartbeat_.leave_out(now - last_turn_);
  last_turn_ = now;
}

void RunControl::end_after_loss(SteadyTime now, int lost) {
  if (loss_seen_ == SteadyTime{}) {
    loss_seen_ = now;
    failure_ = watch_.name(lost) + " is lost";
  }
  if (now - loss_seen_ >= kToBeSeen) watch_.end_program();
}

/// Every rank gets the same verdicts, so all act in the same round.
void RunControl::follow(const Verdict& verdict) {
  if (sources_ != nullptr) {
    sources_->live().set_others({verdict.live_epoch, verdict.live_full != 0, verdict.live_jump});
  }
  if (sources_ != nullptr && verdict.safe_end > reported_safe_) {
    reported_safe_ = verdict.safe_end;
    sources_->safe_before({verdict.safe_end});
  }
  over_ = verdict.all_done != 0 || verdict.any_failed != 0;
  if (over_) watch_.leave_loop();
  if (over_) return;
  // All ranks had frozen by the previous round.
  if (frozen_ && verdict.all_frozen != 0) go_up_to(verdict);
  if (!stopping_) obey(verdict);
}

void RunControl::obey(const Verdict& verdict) {
  switch (verdict.request.command) {
    case Command::none: break;
    case Command::pause: return pause(verdict);
    case Command::resume: return resume(verdict);
    case Command::speed: return change_speed(verdict);
    case Command::new_file: return begin_files(verdict);
    case Command::stop:
    case Command::end: return begin_stop(verdict);
  }
}

void RunControl::pause(const Verdict& verdict) {
  if (std::exchange(paused_, true)) return;
  frozen_ = true;
  if (sources_ != nullptr) sources_->freeze();
  if (rank_ == 0) log::warn("paused, as requested at {}", watch_.name(verdict.asked_by));
}

void RunControl::resume(const Verdict& verdict) {
  if (!std::exchange(paused_, false)) return;
  frozen_ = false;
  if (sources_ != nullptr) sources_->resume();
  if (rank_ == 0) log::warn("resumed, as requested at {}", watch_.name(verdict.asked_by));
}

void RunControl::change_speed(const Verdict& verdict) {
  speed_ = static_cast<double>(verdict.request.speed_millionths) / 1e6;
  if (sources_ != nullptr) sources_->set_speed(speed_);
  if (rank_ != 0) return;
  const auto words = speed_ == 0 ? "as fast as possible" : fmt::format("{:g} times as fast as recorded", speed_);
  log::warn("recordings are now sent {}, as requested at {}", words, watch_.name(verdict.asked_by));
}

void RunControl::begin_files(const Verdict& verdict) {
  if (rank_ == 0) log::warn("new part files, as requested at {}", watch_.name(verdict.asked_by));
  if (new_file_) new_file_();
}

void RunControl::begin_stop(const Verdict& verdict) {
  stopping_ = frozen_ = true;
  ends_ = live_geometry_ && verdict.request.command == Command::end;
  if (sources_ != nullptr) sources_->freeze();
  stopped_by_ = cause_of(verdict.request);
  stop_cause_ = verdict.request.cause;
  if (rank_ == 0) {
    log::warn("{}, at {}: {} cleanly", stopped_by_, watch_.name(verdict.asked_by), ends_ ? "ending" : "stopping");
  }
}

/// All sources continue up to the highest slice that any of them has begun.
void RunControl::go_up_to(const Verdict& verdict) {
  frozen_ = false;
  if (stopping_) {
    stop_sources(verdict);
  } else if (sources_ != nullptr) {
    sources_->pause_at({verdict.begun_end});
  }
}

void RunControl::stop_sources(const Verdict& verdict) {
  // Live data of later slices cannot be read again: live sources end here in any case.
  const bool nothing_after = ends_ || all_live_;
  const SliceId end = nothing_after ? live_end(verdict) : SliceId{verdict.begun_end};
  if (ends_) end_slice_ = end;
  if (rank_ == 0) log::info("the sources end before slice {}; what is in flight is built", end.value);
  if (sources_ == nullptr) return;
  if (nothing_after) {
    sources_->end_at(end);
  } else {
    sources_->stop_at(end);
  }
}

/// The data end after everything that any source has received, and after the margins sent with slices already begun.
SliceId RunControl::live_end(const Verdict& verdict) const {
  const auto& geometry = *live_geometry_;
  SliceId end = first_slice_;
  const std::uint32_t epoch_ticks = geometry.base.epoch_ticks;
  if (verdict.begun_end > end.value) {
    const Epoch apart = offsets_.none() ? 0 : epoch_of(offsets_.width(), epoch_ticks) + 2;
    end.value = verdict.begun_end + (geometry.margin_epochs() + apart) / Epoch(geometry.epochs_per_slice) + 1;
  }
  if (verdict.live_end > 0) {
    const Epoch last = last_corrected(verdict.live_end - 1, offsets_, epoch_ticks);
    end.value = std::max(end.value, geometry.slice_of(last).value + 1);
  }
  return end;
}

void RunControl::look_for_silence(SteadyTime now) {
  if (heartbeat_.reported_to_end()) end_as_reported(now);
  const auto silence = heartbeat_.silence(now);
  if (silence.ranks.empty()) {
    reported_silence_ = {};
    ending_ = {};
    return;
  }
  if (watch_.asked_to_stop() == SIGTERM && silence.lasts >= kSilentAtTermination) report_on_termination(silence);
  if (due(silence.lasts, reported_silence_, watch_.stalls().warning)) {
    reported_silence_ = silence.lasts;
    report_of_silence(silence);
  }
  const auto limit = watch_.stalls().timeout;
  if (limit.count() > 0 && silence.lasts >= limit) end_after_silence(now, silence);
}

/// Rank 0 may end the program, or only leave the run itself.
void RunControl::end_as_reported(SteadyTime now) {
  watch_.be_quiet();
  if (reported_to_end_ == SteadyTime{}) reported_to_end_ = now;
  if (now - reported_to_end_ >= 2 * kToBeSeen) watch_.end_program();
}

/// Rank 0 notifies the others before it ends the run.
void RunControl::end_after_silence(SteadyTime now, const Heartbeat::Silence& silence) {
  if (ending_ == SteadyTime{}) {
    ending_ = now;
    failure_ =
        watch_.name(silence.ranks.front()) + " has been silent for longer than " + name_of(Setting::stall_timeout);
    watch_.be_quiet();
    if (speaks_about(silence.ranks.front())) {
      log::error("{} has been silent for {:.1f} s, longer than {}: the run ends; {}",
                 watch_.name(silence.ranks.front()), in_seconds(silence.lasts), name_of(Setting::stall_timeout),
                 watch_.stalls().advice);
    }
    if (rank_ == 0) heartbeat_.report_to_end();
  }
  if (now - ending_ >= kToBeSeen && (rank_ == 0 || silence.ranks.front() == 0)) watch_.end_program();
}

/// Launchers end all ranks with SIGTERM after losing one. The watchdog reports ranks on this host.
void RunControl::report_on_termination(const Heartbeat::Silence& silence) {
  if (reported_termination_) return;
  reported_termination_ = true;
  for (const int rank : silence.ranks) {
    if (!speaks_about(rank) || watch_.is_here(rank)) continue;
    log::error("{} has not answered for {:.1f} s while the run is being ended; {}", watch_.name(rank),
               in_seconds(silence.lasts), watch_.stalls().advice);
  }
}

void RunControl::report_of_silence(const Heartbeat::Silence& silence) {
  for (const int rank : silence.ranks) {
    if (!speaks_about(rank) || watch_.has_reported(rank)) continue;
    log::warn(
        "{} has not answered for {:.1f} s: it is busy, or its disk, its host or the network is stuck; the run waits "
        "for it",
        watch_.name(rank), in_seconds(silence.lasts));
  }
}

/// All ranks answer and have work, but none makes progress: worth a warning, whatever the cause.
void RunControl::look_for_progress(SteadyTime now, const Verdict& verdict) {
  if (rank_ != 0) return;
  if (verdict.progress != seen_progress_ || verdict.keeps_a_pace != 0 || paused_ || moved_ == SteadyTime{}) {
    seen_progress_ = verdict.progress;
    moved_ = now;
    reported_standstill_ = {};
  }
  const nanoseconds standstill = now - moved_;
  if (!due(standstill, reported_standstill_, watch_.stalls().warning)) return;
  reported_standstill_ = standstill;
  log::warn("no rank has made progress for {:.1f} s, though all of them answer; the slices before {} have been begun",
            in_seconds(standstill), verdict.begun_end);
}

}  // namespace eventloom
