#pragma once

#include <cstdint>
#include <optional>

#include "formats/ids.hpp"

namespace eventloom {

/// When a server of recorded events sends them.
struct MbsPace {
  double rate = 0;   ///< events per second; 0: by `speed`
  double speed = 0;  ///< times as fast as the events' times have it; 0: by `rate`, or as fast as it goes

  [[nodiscard]] bool flat_out() const { return rate == 0 && speed == 0; }
};

/// Says of each event when it is due. Times are nanoseconds of the steady clock.
class MbsPacer {
 public:
  explicit MbsPacer(MbsPace pace) : pace_(pace) {}

  /// The first event is due `now`.
  void start(std::int64_t now);
  /// Of each event once, in their order. `time`: when it was recorded, ticks of 1 ns; an event without a time is due
  /// with the one before. Where times step back, or on by more than an hour, they begin anew.
  std::int64_t due(std::optional<Tick> time);
  /// All that is not yet due is due so much later.
  void delay(std::int64_t ns) { last_due_ += ns; }

  [[nodiscard]] std::uint64_t time_jumps() const { return jumps_; }

 private:
  [[nodiscard]] double step(std::optional<Tick> time);

  MbsPace pace_;
  bool started_ = false;       ///< an event has been due
  std::int64_t last_due_ = 0;  ///< of the event before
  double fraction_ = 0;        ///< of a nanosecond that last_due_ lacks
  std::optional<Tick> last_time_;
  std::uint64_t jumps_ = 0;
};

}  // namespace eventloom
