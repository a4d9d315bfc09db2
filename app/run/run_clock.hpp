#pragma once

#include <optional>
#include <string>

#include "core/definitions/run_ticks.hpp"
#include "formats/geometry.hpp"

namespace eventloom {

/// The clock of a run's times.
struct RunClock {
  TimeBase base;
  bool numbered = false;  ///< times are event numbers
  /// UTC of tick 0, empty if the sources do not state it; std::nullopt before they are open.
  std::optional<std::string> time_of_tick_0 = std::nullopt;
  bool tick_known = true;  ///< false: that of `base` is a guess

  [[nodiscard]] RunTicks ticks() const {
    RunTicks ticks(base.tick_ps);
    ticks.numbered = numbered;
    ticks.known = tick_known;
    return ticks;
  }
};

}  // namespace eventloom
