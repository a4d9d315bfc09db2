#pragma once

#include <cstdint>
#include <optional>

#include "formats/ids.hpp"

namespace eventloom {

/// The pace of a server of recorded events.
struct MbsPace {
  double rate = 0;   ///< events per second; 0: use `speed`
  double speed = 0;  ///< multiple of the recorded pace; 0: use `rate`, or no limit if both are 0

  [[nodiscard]] bool flat_out() const { return rate == 0 && speed == 0; }
};

/// Determines when each event is due. Times are in nanoseconds of the steady clock.
class MbsPacer {
 public:
  explicit MbsPacer(MbsPace pace) : pace_(pace) {}

  /// The first event is due `now`.
  void start(std::int64_t now);
  /// Call once per event, in order. `time`: when it was recorded, ticks of 1 ns; without a time, the event is due with
  /// the previous one. So is an event whose time steps back, or ahead by more than an hour.
  std::int64_t due(std::optional<Tick> time);
  /// Postpones all later events.
  void delay(std::int64_t ns) { last_due_ += ns; }

  [[nodiscard]] std::uint64_t time_jumps() const { return jumps_; }

 private:
  [[nodiscard]] double step(std::optional<Tick> time);

  MbsPace pace_;
  bool started_ = false;       ///< due() has been called since start()
  std::int64_t last_due_ = 0;  ///< due time of the previous event
  double fraction_ = 0;        ///< fraction of a nanosecond that last_due_ lacks
  std::optional<Tick> last_time_;
  std::uint64_t jumps_ = 0;
};

}  // namespace eventloom
