#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/engine/role.hpp"

namespace eventloom {

/// Limits the progress of a replay: recorded time passes `speed` times as fast as real time, starting at the first
/// turn. At speed 0 everything is due.
class ReplayPace {
 public:
  explicit ReplayPace(double speed) : speed_(speed) {}

  [[nodiscard]] double speed() const { return speed_; }
  void turn(SteadyTime now) {
    now_ = now;
    if (!since_) since_ = now;
  }
  /// Whether this much recorded time has passed.
  [[nodiscard]] bool due(double recorded_ns) const { return speed_ == 0 || recorded_ns <= passed_ns(); }
  /// Time stands still until resume().
  void pause() { paused_ = now_; }
  void resume() {
    if (paused_ && since_) *since_ += now_ - *paused_;
    paused_.reset();
  }
  /// Continues at another speed without catching up on slices that are late: `next_ns`, when the next slice is due, is
  /// reached now at the latest.
  void change(double speed, double next_ns) {
    from_ns_ = speed_ == 0 ? next_ns : std::min(passed_ns(), next_ns);
    if (since_) since_ = until();
    speed_ = speed;
  }

 private:
  [[nodiscard]] SteadyTime until() const { return paused_.value_or(now_); }
  [[nodiscard]] double passed_ns() const {
    if (!since_) return from_ns_;
    return from_ns_ + std::chrono::duration<double, std::nano>(until() - *since_).count() * speed_;
  }

  double speed_;
  double from_ns_ = 0;
  std::optional<SteadyTime> since_;
  std::optional<SteadyTime> paused_;
  SteadyTime now_{};
};

}  // namespace eventloom
