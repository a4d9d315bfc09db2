#pragma once

#include <span>
#include <string>
#include <vector>

#include "formats/ids.hpp"
#include "io/recorded/time_order.hpp"

namespace eventloom {

/// Hits of a source between two jumps, in the times of the recording.
struct EraSpan {
  Tick first = 0;  ///< time of the first hit in the order of recording
  Tick last = 0;   ///< greatest time
};

/// The eras of a source of a clock.
struct SourceEras {
  std::string name;
  std::vector<EraSpan> spans;  ///< empty: it has no hits
};

/// Places the eras of a clock: each begins at one time for all of its sources, the first hit of any of them `pause`
/// after the last hit of all. Throws UserError if the sources do not jump equally often, or an era would come too late.
std::vector<EraPlace> place_eras(std::span<const SourceEras> sources, Tick pause);

}  // namespace eventloom
