#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "formats/ids.hpp"
#include "io/recorded/raw_clock.hpp"

namespace eventloom {

/// Finds turns of a counter whose width is not stated: steps back from near 2^N units to near 0 (if it is signed, from
/// near 2^(N-1) to near -2^(N-1)), in a source whose numbers never reach 2^N, with N from 16 to 48. Hits in any order
/// may make such steps, too, but then go back by other amounts far more often.
class TurnWatch {
 public:
  explicit TurnWatch(RawClock clock) : clock_(std::move(clock)) {}

  [[nodiscard]] const RawClock& clock() const { return clock_; }

  /// Takes hits in order that begin with none earlier than the hit before; `last` is the time of the last one.
  void run_on(Tick last) {
    any_ = true;
    last_ = last;
    if (last > most_) most_ = last;
  }
  /// Takes the next hit in the order of recording.
  void take(Tick time) {
    if (any_ && time < last_) step_back(time);
    run_on(time);
  }

  /// Width of the counter that turned between two successive times, going by those of the source so far; std::nullopt
  /// if the step looks like no turn.
  [[nodiscard]] std::optional<unsigned> turned(Tick from, Tick to) const;

  struct Turn {
    unsigned bits = 0;
    bool is_signed = false;
    Tick from = 0;  ///< time before the first turn
    Tick to = 0;    ///< time of the next hit
  };
  /// The counter, if the steps back so far are its turns. A source may still exceed its numbers, unless `certain`: so
  /// many turns can be nothing else.
  [[nodiscard]] std::optional<Turn> found(bool certain) const;

 private:
  void step_back(Tick time);
  [[nodiscard]] double number(Tick time) const;
  [[nodiscard]] unsigned width(bool is_signed) const;

  RawClock clock_;
  Tick last_ = 0;
  Tick most_ = 0;  ///< greatest time so far
  bool any_ = false;
  std::optional<Turn> first_;  ///< the first turn of a counter of the width that the numbers so far need
  std::uint64_t turns_ = 0;
  std::uint64_t others_ = 0;  ///< steps back by amounts that are no turns, and long for the counter
};

}  // namespace eventloom
