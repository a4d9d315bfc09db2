#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// The stretches of time in which a recording has hits. Used for recordings whose frames may be stored in any order: a
/// frame that goes back is not a jump if it fits between stretches already recorded.
class CoveredTime {
 public:
  /// Hits no farther apart than `apart` belong to one stretch. Frames that go back by more than `farthest` do not fit.
  CoveredTime(Tick apart, Tick farthest) : apart_(apart), farthest_(farthest) {}

  /// Adds hits in ascending order, none earlier than any hit before.
  void run_on(std::span<const Tick> times);
  /// Takes a hit at `time` if it continues or begins a stretch without overlapping another. Otherwise returns false. A
  /// hit that goes back to tick 0 begins no stretch.
  bool take(Tick time);

 private:
  struct Stretch {
    Tick begin = 0;
    Tick end = 0;  ///< time of the last hit
  };

  [[nodiscard]] bool near(const Stretch& stretch, Tick time) const;
  [[nodiscard]] bool extend(std::size_t place, Tick time);
  void begin_last(Tick time);
  [[nodiscard]] bool frames_show() const;

  Tick apart_;
  Tick farthest_;
  std::vector<Stretch> stretches_;  ///< ascending; stretches too far back for a frame are removed
  std::size_t current_ = 0;         ///< index of the stretch of the last hit
  std::uint64_t hits_ = 0;
  std::uint64_t begun_ = 0;  ///< number of stretches begun
};

}  // namespace eventloom
