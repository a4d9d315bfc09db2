#include "core/engine/run_control.hpp"

#include <algorithm>

#include "core/runtime/format.hpp"
#include "core/runtime/log.hpp"

namespace eventloom {

namespace {

/// Healthy ranks answer in a few milliseconds.
constexpr auto kNotice = std::chrono::milliseconds(200);
constexpr auto kLongestNotice = std::chrono::milliseconds(2000);

}  // namespace

RunControl::RunControl(RankWatch& watch, std::chrono::nanoseconds duration, Network& network)
    : watch_(watch),
      rank_(network.ranks().rank()),
      heartbeat_(network.open_channel(), rank_, network.ranks().size(), kNotice, kLongestNotice),
      silence_(watch, heartbeat_, rank_),
      requests_(duration) {}

void RunControl::stop_for(Cause cause, const std::string& why) {
  log::error("{}: {}; the run stops cleanly", watch_.name(rank_), why);
  ask(Command::stop, cause);
}

RankStatus RunControl::status(bool done) const {
  RankStatus status;
  status.begun_end = sources_ == nullptr ? 0 : sources_->begun_end().value;
  status.progress = progress_;
  status.live_epoch = sources_ == nullptr ? 0 : sources_->live().received();
  status.safe_end = safe_end_.value;
  status.live_end = sources_ == nullptr ? 0 : sources_->live().seen_end();
  if (sources_ != nullptr) status.live_votes = sources_->live().votes();
  status.live_full = sources_ != nullptr && sources_->live().any_full() ? 1 : 0;
  status.request = requests_.next();
  status.done = done ? 1 : 0;
  status.failed = error_.empty() ? 0 : 1;
  status.frozen = course_.frozen() ? 1 : 0;
  status.keeps_a_pace = sources_ != nullptr && sources_->keeps_a_pace() ? 1 : 0;
  return status;
}

bool RunControl::over(SteadyTime now, bool done, std::size_t work) {
  requests_.look(now, watch_.asked_to_stop());
  silence_.begin_turn(now);
  progress_ += work;
  const auto reports = heartbeat_.reports_made();
  const auto verdict = heartbeat_.do_work(now, status(done));
  if (heartbeat_.reports_made() != reports) requests_.reported();
  bool ended = false;
  if (verdict) {
    ended = follow(*verdict);
    const bool may_rest = verdict->keeps_a_pace != 0 || course_.paused();
    silence_.note_round(now, verdict->progress, may_rest, verdict->begun_end);
  }
  silence_.look(now);
  return ended;
}

/// Every rank gets the same verdicts, so all act in the same round. Returns whether it is the last.
bool RunControl::follow(const Verdict& verdict) {
  if (sources_ != nullptr) {
    sources_->live().set_others({verdict.live_epoch, verdict.live_full != 0, verdict.live_jump});
  }
  if (sources_ != nullptr && verdict.safe_end > reported_safe_) {
    reported_safe_ = verdict.safe_end;
    sources_->safe_before({verdict.safe_end});
  }
  if (verdict.all_done != 0 || verdict.any_failed != 0) {
    watch_.leave_loop();
    return true;
  }
  // All ranks had frozen by the previous round.
  if (course_.frozen() && verdict.all_frozen != 0) go_up_to(verdict);
  if (!course_.stopping()) obey(verdict);
  return false;
}

void RunControl::obey(const Verdict& verdict) {
  switch (verdict.request.command) {
    case Command::none: break;
    case Command::pause: return pause(verdict);
    case Command::resume: return resume(verdict);
    case Command::speed: return change_speed(verdict);
    case Command::new_file: return begin_files(verdict);
    case Command::reset: return reset_histograms(verdict);
    case Command::stop:
    case Command::end: return begin_stop(verdict);
  }
}

void RunControl::pause(const Verdict& verdict) {
  if (!course_.pause()) return;
  if (sources_ != nullptr) sources_->freeze();
  if (rank_ == 0) log::warn("paused, as requested at {}", watch_.name(verdict.asked_by));
}

void RunControl::resume(const Verdict& verdict) {
  if (!course_.resume()) return;
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

void RunControl::reset_histograms(const Verdict& verdict) {
  if (rank_ == 0) {
    log::warn("the histograms shown begin again from zero, those of the output do not; as requested at {}",
              watch_.name(verdict.asked_by));
  }
  if (reset_) reset_();
}

void RunControl::begin_stop(const Verdict& verdict) {
  course_.stop(live_ && verdict.request.command == Command::end);
  stop_ = verdict.request;
  if (sources_ != nullptr) sources_->freeze();
  if (rank_ == 0) {
    log::warn("{}, at {}: {} cleanly", stopped_by(), watch_.name(verdict.asked_by),
              course_.ends() ? "ending" : "stopping");
  }
}

/// All sources continue up to the highest slice that any of them has begun.
void RunControl::go_up_to(const Verdict& verdict) {
  if (course_.stopping()) return stop_sources(verdict);
  course_.go_up_to({verdict.begun_end});
  if (sources_ != nullptr) sources_->pause_at({verdict.begun_end});
}

void RunControl::stop_sources(const Verdict& verdict) {
  // Live data of later slices cannot be read again: live sources end here in any case.
  const bool nothing_after = course_.ends() || (live_ && live_->all);
  const SliceId end = nothing_after ? live_end(verdict) : SliceId{verdict.begun_end};
  course_.go_up_to(end);
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
  const auto& geometry = live_->geometry;
  const auto& offsets = live_->offsets;
  SliceId end = live_->first_slice;
  const std::uint32_t epoch_ticks = geometry.base.epoch_ticks;
  if (verdict.begun_end > end.value) {
    const Epoch apart = offsets.none() ? 0 : epoch_of(offsets.width(), epoch_ticks) + 2;
    end.value = verdict.begun_end + (geometry.margin_epochs() + apart) / Epoch(geometry.epochs_per_slice) + 1;
  }
  if (verdict.live_end > 0) {
    const Epoch last = last_corrected(verdict.live_end - 1, offsets, epoch_ticks);
    end.value = std::max(end.value, geometry.slice_of(last).value + 1);
  }
  return end;
}

}  // namespace eventloom
