#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

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
  void restart() {
    seen_ = latest_;
    restarted_ = true;
  }

  /// Whether an event is a repeat. Without a time, the number alone decides.
  [[nodiscard]] bool repeats(std::uint32_t number, std::optional<Tick> time) const {
    return seen_ && !is_above(number, seen_->number) && time.value_or(0) <= seen_->time;
  }
  /// Number of events missing between the last one before the restart and the first new one after it, which has this
  /// number. Numbers that continue elsewhere show nothing.
  std::uint32_t missing_before(std::uint32_t number) {
    if (!std::exchange(restarted_, false) || !seen_) return 0;
    const std::uint32_t missing = number - seen_->number - 1;
    return missing <= kMostMissing ? missing : 0;
  }

 private:
  static constexpr std::uint32_t kMostMissing = 1U << 24;

  struct Reached {
    std::uint32_t number = 0;
    Tick time = 0;
  };
  static bool is_above(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) > 0; }

  std::optional<Reached> latest_;
  std::optional<Reached> before_;  ///< latest_ before the last keep()
  std::optional<Reached> seen_;    ///< maxima before the restart
  bool restarted_ = false;         ///< no new event has followed the restart yet
};

}  // namespace eventloom
