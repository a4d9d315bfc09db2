#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "formats/ids.hpp"

namespace eventloom {

/// Recognises time-stamped events that a restarted server sends again: neither their number nor their time exceeds the
/// maximum before the restart. Restarted numbers have later times and are kept; so are events missed meanwhile. Numbers
/// wrap around at 32 bits.
class LmdRepeats {
 public:
  /// Records a kept event.
  void keep(std::uint32_t number, Tick time) {
    before_ = latest_;
    if (!latest_) latest_ = {number, time};
    if (!is_above(latest_->number, number)) latest_->number = number;
    latest_->time = std::max(latest_->time, time);
  }
  /// Undoes the last keep().
  void take_back() { latest_ = before_; }
  /// The next events may be repeats.
  void restart() { seen_ = latest_; }

  /// Whether an event is a repeat. Without a time, the number alone decides.
  [[nodiscard]] bool repeats(std::uint32_t number, std::optional<Tick> time) const {
    return seen_ && !is_above(number, seen_->number) && time.value_or(0) <= seen_->time;
  }

 private:
  struct Reached {
    std::uint32_t number = 0;
    Tick time = 0;
  };
  static bool is_above(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }

  std::optional<Reached> latest_;
  std::optional<Reached> before_;  ///< latest_ before the last keep()
  std::optional<Reached> seen_;    ///< maxima before the restart
};

}  // namespace eventloom
