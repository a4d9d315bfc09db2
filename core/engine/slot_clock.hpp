#pragma once

#include <cstdint>
#include <vector>

#include "core/control/clock_sync.hpp"
#include "core/control/collective.hpp"
#include "core/transport/network.hpp"

namespace eventloom {

/// Keeps the slots of a schedule at the same time on all ranks.
class SlotClock {
 public:
  /// Collective: synchronises the ranks' clocks, of which `clock` is this one's. Throws UserError, the same on all
  /// ranks, when they do not agree better than a slot is long. Whenever this has to wait, it does as `idle` says.
  SlotClock(Network& network, std::uint64_t slot_ns, IdlePolicy& idle, ClockSync::Clock clock);

  /// Collective: agrees on a common start a moment from now.
  void start();
  /// Nanoseconds since the common start; negative before it.
  [[nodiscard]] std::int64_t since_start() { return sync_.global_ns() - start_; }
  /// To be called often: the clocks are compared again and again.
  void do_work() { sync_.do_work(clock_()); }
  /// Collective, once, at the end.
  void stop() { sync_.stop(idle_); }

  /// On rank 0: of all ranks, by rank, as of the last comparison. Empty on the others.
  [[nodiscard]] std::vector<ClockQuality> qualities() const { return sync_.qualities(); }

 private:
  const Collective& ranks_;
  IdlePolicy& idle_;
  ClockSync::Clock clock_;
  ClockSync sync_;
  std::int64_t start_ = 0;
};

}  // namespace eventloom
