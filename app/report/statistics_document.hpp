#pragma once

#include <nlohmann/json.hpp>

#include "io/run_format/run_statistics.hpp"

namespace eventloom {

/// Adds to the status document of a run what run.h5 keeps of it beyond ledger and events: counters of the run and of
/// its sources, latency, clocks, the time of builders, rates during the run. What there is not is left out. Throws
/// UserError when it names a source that the run does not have.
void add_statistics(nlohmann::json& status, const RunStatistics& statistics);

}  // namespace eventloom
