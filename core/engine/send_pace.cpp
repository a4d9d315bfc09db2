#include "core/engine/send_pace.hpp"

namespace eventloom {

void SendPace::turn(SteadyTime now) {
  now_ = now;
  due_ = SteadyTime::max();
  if (!since_) since_ = now;
  if (has_slots_) since_start_ = settings_.since_start();
}

bool SendPace::is_recorded(SliceId slice) const { return speed_ == 0 || recorded_ns(slice) <= passed_ns(); }

/// Recorded time from the first slice to the end of `slice`.
double SendPace::recorded_ns(SliceId slice) const {
  const auto& geometry = settings_.geometry;
  const double slice_ps = static_cast<double>(geometry.slice_ticks()) * static_cast<double>(geometry.base.tick_ps);
  return static_cast<double>(slice.value + 1 - settings_.first_slice.value) * slice_ps / 1000;
}

double SendPace::passed_ns() const {
  if (!since_) return from_ns_;
  return from_ns_ + std::chrono::duration<double, std::nano>(until() - *since_).count() * speed_;
}

void SendPace::pause_at(SliceId slice) {
  frozen_ = false;
  pause_ = slice;
  paused_ = now_;
}

bool SendPace::resume() {
  frozen_ = false;
  if (pause_ == kNoSlice) return false;
  pause_ = kNoSlice;
  if (paused_ && since_) *since_ += now_ - *paused_;
  paused_.reset();
  return true;
}

void SendPace::set_speed(double speed, SliceId next) {
  from_ns_ = speed_ == 0 ? recorded_ns(next) : std::min(passed_ns(), recorded_ns(next));
  if (since_) since_ = until();
  speed_ = speed;
}

}  // namespace eventloom
