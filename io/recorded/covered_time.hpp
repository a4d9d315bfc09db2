#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"

namespace eventloom {

/// The stretches of time in which a recording has hits, for one whose frames were stored in any order: a frame that
/// lies back is no jump as long as it fits between what has been recorded before and after it.
class CoveredTime {
 public:
  /// Hits no further apart than `apart` belong to one stretch. Frames that lie back by more than `farthest` do not fit.
  CoveredTime(Tick apart, Tick farthest) : apart_(apart), farthest_(farthest) {}

  /// Hits in rising times, the first no earlier than all before.
  void run_on(std::span<const Tick> times);
  /// Takes a hit at `time` if it continues a stretch, or begins one, without reaching into another; false if not. A hit
  /// at tick 0 begins none behind others.
  bool take(Tick time);

 private:
  struct Stretch {
    Tick begin = 0;
    Tick end = 0;  ///< the last hit
  };

  [[nodiscard]] bool near(const Stretch& stretch, Tick time) const;
  [[nodiscard]] bool extend(std::size_t place, Tick time);
  void begin_last(Tick time);
  [[nodiscard]] bool frames_show() const;

  Tick apart_;
  Tick farthest_;
  std::vector<Stretch> stretches_;  ///< in rising times, none farther back than a frame may lie
  std::size_t current_ = 0;         ///< that of the last hit
  std::uint64_t hits_ = 0;
  std::uint64_t begun_ = 0;  ///< stretches
};

}  // namespace eventloom
