#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// Names that `--schedule` accepts.
std::vector<std::string> scheduler_names();

/// Throws std::invalid_argument, one line, for an unknown scheduler (lists the names), for one without slots when a
/// slot length is given, and when its table cannot be parsed or does not fit.
std::unique_ptr<Scheduler> make_scheduler(const ScheduleSettings& settings);

}  // namespace eventloom
