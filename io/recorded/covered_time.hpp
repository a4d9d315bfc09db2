#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "formats/ids.hpp"
#include "io/recorded/step_back.hpp"

namespace eventloom {

/// The stretches of time in which a recording has hits. Used for recordings whose frames may be stored in any order: a
/// frame that goes back is not a jump if it fits between stretches already recorded.
class CoveredTime {
 public:
  /// Hits no farther apart than `apart` belong to one stretch. Frames that go back by more than `farthest` do not fit.
  CoveredTime(Tick apart, Tick farthest) : apart_(apart), farthest_(farthest), restarts_(apart) {}

  /// Adds hits in ascending order, none earlier than any hit before.
  void run_on(std::span<const Tick> times);
  /// Takes a hit at `time` if it continues or begins a stretch without overlapping another. Otherwise returns false. A
  /// hit that goes back to tick 0 begins no stretch.
  bool take(Tick time);
  /// Whether hits that it took go back because the clock began again. A source may still show that they are frames,
  /// unless `certain`: that number of restarts can be nothing else.
  [[nodiscard]] bool restarts(bool certain) const;
  /// Whether it may have begun again; frames in any order look the same.
  [[nodiscard]] bool may_restart() const { return restarts_.may_be(farthest_); }
  [[nodiscard]] std::uint64_t steps_back() const { return restarts_.steps_back(); }

 private:
  struct Stretch {
    Tick begin = 0;
    Tick end = 0;  ///< time of the last hit
  };

  [[nodiscard]] bool near(const Stretch& stretch, Tick time) const;
  [[nodiscard]] bool extend(std::size_t place, Tick time);
  bool fit(Tick time);
  bool go_to(std::size_t place);
  void begin_last(Tick time);
  [[nodiscard]] bool frames_show() const;

  Tick apart_;
  Tick farthest_;
  std::vector<Stretch> stretches_;  ///< ascending; stretches too far back for a frame are removed
  std::size_t current_ = 0;         ///< index of the stretch of the last hit
  Restarts restarts_;
  std::uint64_t passes_ = 0;  ///< steps from stretch to stretch over others, except to the last
  std::uint64_t hits_ = 0;
  std::uint64_t begun_ = 0;  ///< number of stretches begun
};

}  // namespace eventloom
