#pragma once

#include <string>

namespace eventloom {

/// How the numbers of a source's clock, as its input holds them, relate to its times.
struct RawClock {
  double zero = 0;   ///< time of the number 0, ticks; negative if that is before tick 0
  double ticks = 1;  ///< ticks per unit
  std::string unit;  ///< the unit, for messages: "ns", "25ns", "event"
};

}  // namespace eventloom
