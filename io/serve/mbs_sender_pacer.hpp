#pragma once

#include <cstdint>
#include <optional>

#include "formats/ids.hpp"

namespace eventloom {

/// The pace of a server of recorded events.
struct MbsPace {
  double rate = 0;   ///< events per second; 0: by `speed`
  double speed = 0;  ///< in multiples of the events' own pace; 0: by `rate`, or without limit

  [[nodiscard]] bool flat_out() const { return rate == 0 && speed == 0; }
};

/// Determines when each event is due. Times are nanoseconds of the steady clock.
class MbsPacer {
 public:
  explicit MbsPacer(MbsPace pace) : pace_(pace) {}

  /// The first event is due `now`.
  void start(std::int64_t now);
  /// To be called once per event, in order. `time`: when it was recorded, ticks of 1 ns; an event without a time is due
  /// with the previous one. Where times step back, or ahead by more than an hour, they start again.
  std::int64_t due(std::optional<Tick> time);
  /// Postpones everything that is not yet due.
  void delay(std::int64_t ns) { last_due_ += ns; }

  [[nodiscard]] std::uint64_t time_jumps() const { return jumps_; }

 private:
  [[nodiscard]] double step(std::optional<Tick> time);

  MbsPace pace_;
  bool started_ = false;       ///< an event has been due
  std::int64_t last_due_ = 0;  ///< of the previous event
  double fraction_ = 0;        ///< the fraction of a nanosecond that last_due_ lacks
  std::optional<Tick> last_time_;
  std::uint64_t jumps_ = 0;
};

}  // namespace eventloom
