#pragma once

#include <string>
#include <vector>

#include "app/run/source_info.hpp"

namespace eventloom {

/// Time of tick 0, and statements that contradict it.
struct TimeOrigin {
  std::string time_of_tick_0;               ///< UTC; empty: unknown
  std::vector<std::string> contradictions;  ///< messages for the log
};

/// Uses `given`, the value of --time-origin, or else the first source that states the time: a live source, one with
/// White Rabbit stamps (which count TAI), or a table with an origin in UTC. Throws UserError if `given` is set and
/// times are event numbers.
TimeOrigin find_time_origin(const std::string& given, const std::vector<SourceInfo>& sources);

}  // namespace eventloom
