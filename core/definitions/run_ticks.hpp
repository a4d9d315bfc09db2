#pragma once

#include <cstdint>
#include <string_view>

#include "formats/ids.hpp"

namespace eventloom {

/// The ticks of a run, for lengths of time in texts from the user.
struct RunTicks {
  /// Converts by itself: the ticks of most runs are times of a known length.
  RunTicks(std::uint64_t tick_ps) : ps(tick_ps) {}

  std::uint64_t ps;
  bool numbered = false;  ///< times are event numbers, which no unit measures
  bool known = true;      ///< false: `ps` is a guess, which plain lengths and lengths with a unit cannot be compared by
};

/// Whether a length of time, perhaps with a sign, carries a unit of time.
bool has_unit_of_time(std::string_view length);

/// Parses a length of time: plain ticks ("25"), or with a unit ("25ns", "0.5us") unless they are event numbers. Throws
/// std::invalid_argument that names the text and states what was expected.
Tick parse_length(std::string_view text, const RunTicks& ticks);

/// Continues a message that names a text with a unit of time.
inline constexpr std::string_view kNumbersHaveNoUnit =
    "has a unit of time, but the times of this run are event numbers: use a plain number";

}  // namespace eventloom
