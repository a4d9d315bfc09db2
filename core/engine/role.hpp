#pragma once

#include <chrono>
#include <cstddef>

namespace eventloom {

using SteadyTime = std::chrono::steady_clock::time_point;

/// A task of a rank, done in steps. The roles of a rank take turns; none ever blocks.
class Role {
 public:
  virtual ~Role() = default;
  /// Does whatever can be done now, for a few milliseconds at most. Returns the amount of work done; 0: there was none.
  virtual std::size_t do_work(SteadyTime now) = 0;
  /// True once there will never be work again.
  [[nodiscard]] virtual bool done() const = 0;
  /// When it will have work even if nothing arrives, as of its last turn; SteadyTime::max() if never.
  [[nodiscard]] virtual SteadyTime due() const { return SteadyTime::max(); }
  /// Called when no role of the rank has work. If it can continue only once its oldest puts are complete, waits for
  /// them and returns true.
  virtual bool make_room() { return false; }
};

/// What a rank does once per turn, even when its roles have no work left. `now`: when the turn began.
class TurnTask {
 public:
  virtual ~TurnTask() = default;
  virtual void turn(SteadyTime now) = 0;
};

}  // namespace eventloom
