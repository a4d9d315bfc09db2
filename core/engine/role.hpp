#pragma once

#include <chrono>
#include <cstddef>

namespace eventloom {

using SteadyTime = std::chrono::steady_clock::time_point;

/// A task of a rank, done in steps. The roles of a rank take turns; none ever waits.
class Role {
 public:
  virtual ~Role() = default;
  /// Does what can be done now, for a few milliseconds at most. Returns the amount of work done, 0 when there was none.
  virtual std::size_t do_work(SteadyTime now) = 0;
  /// True once there will never be work again.
  [[nodiscard]] virtual bool done() const = 0;
  /// When it will have work though nothing arrives, as far as its last turn has shown; the far future if never.
  [[nodiscard]] virtual SteadyTime due() const { return SteadyTime::max(); }
  /// Called when no role of the rank has work: if it can only continue once the oldest of its puts are complete, waits
  /// for these and returns true.
  virtual bool make_room() { return false; }
};

}  // namespace eventloom
