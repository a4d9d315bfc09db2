#pragma once

#include <cstdint>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// The times at which a channel may be ready again if its past before some tick is unknown. Each hit that finds it
/// ready begins a dead time; as hits follow, the possibilities merge, usually into one.
class PossibleDeadTimes {
 public:
  /// Any state is possible at `begin`.
  void restart(Tick begin, Tick dead);
  void see(Tick time, Tick dead);
  /// Whether a single possibility remains, which only a hit can bring about.
  [[nodiscard]] bool is_certain() const { return !open_ && ready_.size() == 1; }
  /// The time at which the channel is ready. Requires is_certain().
  [[nodiscard]] Tick ready() const { return ready_.front(); }

 private:
  bool open_ = true;         ///< a dead time of before the beginning may still last
  Tick open_until_ = 0;      ///< end of the last one possible
  std::vector<Tick> ready_;  ///< possible times, ascending
};

/// The dead time of one channel: a hit counts if it comes at least `dead` after the last hit of the channel that
/// counted, so that hits within a dead time do not extend it (non-paralysable: G. F. Knoll, Radiation Detection and
/// Measurement, section on dead time models).
///
/// Whether a hit counts depends on the hits in the block of its time and in the block before alone, blocks being
/// kDeadTimesPerBlock dead times long, from tick 0. The result therefore does not depend on where a slice begins. A
/// pause of one dead time anywhere in the block before, or enough hits at irregular distances, leaves one possibility.
/// Where a channel never pauses, as with a pulser faster than its dead time, each block starts without a dead time.
/// With random hits that happens in none of thousands of blocks at up to five hits per dead time, in 2 % of them at
/// nine (simulated).
class ChannelDeadTime {
 public:
  static constexpr std::uint64_t kDeadTimesPerBlock = 50;

  /// Takes the next hit of the channel, in order of time; returns whether it counts. `dead` is above 0 and always the
  /// same.
  bool take(Tick time, Tick dead);

 private:
  void enter(std::uint64_t block, Tick dead);

  std::uint64_t block_ = ~std::uint64_t{0} - 1;
  Tick ready_ = 0;          ///< when the channel is ready, in the current block
  PossibleDeadTimes next_;  ///< becomes `ready_` in the next block
};

/// How long before a hit other hits can decide whether it counts.
constexpr Tick dead_time_history(Tick dead) { return 2 * ChannelDeadTime::kDeadTimesPerBlock * dead; }

}  // namespace eventloom
