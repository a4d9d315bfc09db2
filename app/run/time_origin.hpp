#pragma once

#include <string>
#include <vector>

#include "app/run/source_info.hpp"

namespace eventloom {

/// What is said of the time of tick 0.
struct TimeOrigin {
  std::string time_of_tick_0;               ///< UTC; empty where nobody knows it
  std::vector<std::string> contradictions;  ///< for the log
};

/// By `given`, the value of --time-origin, or else by the first source that states it: a live one, one whose times
/// are White Rabbit stamps, which count TAI, or a table with an origin in UTC. Throws UserError when it is given and
/// times are event numbers.
TimeOrigin find_time_origin(const std::string& given, const std::vector<SourceInfo>& sources);

}  // namespace eventloom
