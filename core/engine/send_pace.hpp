#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/engine/role.hpp"
#include "core/engine/source_settings.hpp"
#include "schedulers/scheduler.hpp"

namespace eventloom {

/// When the sources of one rank may send. Recorded time passes `speed` times as fast as real time, starting at the
/// first turn; at speed 0 everything is due. Slots are counted in ns since the common start.
class SendPace {
 public:
  /// `scheduler` and `settings` must outlive this object.
  SendPace(const Scheduler& scheduler, const SourceRoleSettings& settings)
      : settings_(settings), has_slots_(scheduler.slot_ns() != 0), speed_(settings.speed) {}

  void turn(SteadyTime now);
  [[nodiscard]] bool has_slots() const { return has_slots_; }
  [[nodiscard]] bool limits_rate() const { return speed_ > 0 || has_slots_; }
  /// Recordings: whether the time it took to record the slice has passed.
  [[nodiscard]] bool is_recorded(SliceId slice) const;
  /// Slots: the current time.
  [[nodiscard]] std::int64_t since_start() const { return since_start_; }
  /// The next turn is due after this time at the latest.
  void wake_after(std::int64_t wait_ns) { due_ = std::min(due_, now_ + std::chrono::nanoseconds(wait_ns)); }
  [[nodiscard]] SteadyTime due() const { return due_; }

  /// No slice at or after it may begin.
  [[nodiscard]] SliceId end() const { return frozen_ ? SliceId{0} : pause_; }
  void freeze() { frozen_ = true; }
  /// Recorded time stands still until resume().
  void pause_at(SliceId slice);
  /// Lifts all limits; returns whether there was a pause.
  bool resume();
  /// Continues at another speed without catching up on slices that are late: `next`, the first one that is not sent, is
  /// due now at the latest.
  void set_speed(double speed, SliceId next);

 private:
  [[nodiscard]] double recorded_ns(SliceId slice) const;
  [[nodiscard]] SteadyTime until() const { return paused_.value_or(now_); }
  [[nodiscard]] double passed_ns() const;

  const SourceRoleSettings& settings_;
  bool has_slots_;
  double speed_;
  double from_ns_ = 0;
  std::optional<SteadyTime> since_;
  std::optional<SteadyTime> paused_;
  SteadyTime now_{};
  SteadyTime due_ = SteadyTime::max();
  std::int64_t since_start_ = 0;
  bool frozen_ = false;
  SliceId pause_ = kNoSlice;  ///< one past the last slice to send while paused
};

}  // namespace eventloom
