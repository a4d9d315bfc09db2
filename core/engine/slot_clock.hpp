#pragma once

#include <cstdint>
#include <vector>

#include "core/control/clock_sync.hpp"
#include "core/control/collective.hpp"
#include "core/engine/role.hpp"
#include "core/transport/network.hpp"

namespace eventloom {

/// The common time by which all ranks keep the slots of a schedule.
class SlotClock final : public TurnTask {
 public:
  /// Collective: synchronises the clocks of all ranks, waiting on `idle`; `clock` is this rank's. Throws UserError, the
  /// same on all ranks, when the precision is worse than the length of a slot.
  SlotClock(Network& network, std::uint64_t slot_ns, IdlePolicy& idle, ClockSync::Clock clock);

  /// Collective: sets a common start shortly after now.
  void start();
  /// Nanoseconds since the common start; negative before it.
  [[nodiscard]] std::int64_t since_start() { return sync_.global_ns() - start_; }
  /// Keeps the clocks synchronised.
  void turn(SteadyTime) override { sync_.do_work(clock_()); }
  /// Collective, once, at the end.
  void stop() { sync_.stop(idle_); }

  /// On rank 0: clock quality of all ranks, by rank, as of their last models. Empty on the others.
  [[nodiscard]] std::vector<ClockQuality> qualities() const { return sync_.qualities(); }

 private:
  const Collective& ranks_;
  IdlePolicy& idle_;
  ClockSync::Clock clock_;
  ClockSync sync_;
  std::int64_t start_ = 0;
};

}  // namespace eventloom
