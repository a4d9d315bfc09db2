#pragma once

#include <boost/program_options.hpp>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/tools/plan/layout.hpp"
#include "app/tools/simulate/calibration.hpp"

namespace eventloom {

/// What `plan --simulate` has compared.
struct ScheduleComparison {
  nlohmann::json points = nlohmann::json::array();  ///< as in the report of `simulate`
  std::optional<Calibration> measured;
  SimulatedSchedule best;
};

/// Simulates the schedules, with and without slots, on the nodes and with the rings of `plan`; the rest is given by the
/// network options. `table`: show the points on standard output. Throws UserError.
ScheduleComparison compare_schedules(const boost::program_options::variables_map& values, const Plan& plan, bool table);

}  // namespace eventloom
