#pragma once

#include <boost/program_options.hpp>
#include <optional>

#include "app/tools/plan/layout.hpp"
#include "app/tools/simulate/calibration.hpp"
#include "core/runtime/json.hpp"

namespace eventloom {

/// Result of `plan --simulate`.
struct ScheduleComparison {
  Json points = Json::array();  ///< same format as in the report of `simulate`
  std::optional<Calibration> measured;
  SimulatedSchedule best;
};

/// Simulates the schedules, with and without slots, on the nodes and with the rings of `plan`. The network options give
/// the rest. `table`: print the points to standard output. Throws UserError.
ScheduleComparison compare_schedules(const boost::program_options::variables_map& values, const Plan& plan, bool table);

}  // namespace eventloom
