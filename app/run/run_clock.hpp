#pragma once

#include <optional>
#include <string>

#include "formats/geometry.hpp"

namespace eventloom {

/// The clock of a run's times.
struct RunClock {
  TimeBase base;
  bool numbered = false;  ///< times are event numbers
  /// UTC of tick 0, empty if the sources do not state it; std::nullopt before they are open.
  std::optional<std::string> time_of_tick_0 = std::nullopt;
};

}  // namespace eventloom
