#pragma once

#include <memory>
#include <string>
#include <vector>

#include "schedulers/scheduler.hpp"

namespace eventloom {

/// Names that `--schedule` accepts.
std::vector<std::string> scheduler_names();

/// Throws std::invalid_argument with a one-line message when the scheduler is unknown (the message lists the names),
/// when a slot length is given to a scheduler without slots, and when the table cannot be parsed or does not fit.
std::unique_ptr<Scheduler> make_scheduler(const ScheduleSettings& settings);

}  // namespace eventloom
