#pragma once

#include <chrono>
#include <cstddef>

namespace eventloom {

using SteadyTime = std::chrono::steady_clock::time_point;

/// What a rank does, a step at a time. A rank with several roles takes turns; no role ever waits.
class Role {
 public:
  virtual ~Role() = default;
  /// Does what can be done now, some milliseconds at most; returns how much that was, 0 when it
  /// could do nothing.
  virtual std::size_t do_work(SteadyTime now) = 0;
  /// Nothing will ever be left to do.
  [[nodiscard]] virtual bool done() const = 0;
  /// Completes what is under way in the exchange; called when the rank idles and at the end.
  virtual void flush() = 0;
};

}  // namespace eventloom
