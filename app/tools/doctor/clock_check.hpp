#pragma once

#include <string>
#include <vector>

#include "app/tools/doctor/findings.hpp"
#include "core/mpi/communicator.hpp"

namespace eventloom {

/// The time of day on a rank's host, relative to a clock that all ranks share.
struct DayTime {
  std::string host;
  double offset_ns = 0;  ///< time of day minus common clock
};

/// `precision_ns`: precision of the common clock between two ranks.
Finding clock_finding(const std::vector<DayTime>& times, double precision_ns);

/// Collective.
Finding check_clocks(const Communicator& communicator);

}  // namespace eventloom
