#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/control/clock_sync.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// Keeps the slots of a schedule at the same time on all ranks.
class SlotClock {
 public:
  /// Collective: synchronises the ranks' clocks. Throws UserError, the same on all ranks, when they
  /// do not agree better than a slot is long.
  SlotClock(const Communicator& communicator, std::uint64_t slot_ns);

  /// Collective: agrees on a common start a moment from now.
  void start();
  /// Nanoseconds since the common start; negative before it.
  [[nodiscard]] std::int64_t since_start() { return sync_.global_ns() - start_; }
  /// To be called often: the clocks are compared again and again.
  void do_work() { sync_.do_work(steady_ns()); }
  /// Collective, once, at the end.
  void stop() { sync_.stop(); }

  /// On rank 0: of all ranks, by rank, as of the last comparison. Empty on the others.
  [[nodiscard]] std::vector<ClockQuality> qualities() const { return sync_.qualities(); }

 private:
  const Communicator& communicator_;
  ClockSync sync_;
  std::int64_t start_ = 0;
};

/// By rank: {"offset_ns", "rate_ppm", "residual_ns", "precision_ns", "round_trips"}.
nlohmann::json to_json(const std::vector<ClockQuality>& clocks);

}  // namespace eventloom
