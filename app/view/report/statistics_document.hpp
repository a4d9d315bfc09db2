#pragma once

#include "core/runtime/json.hpp"
#include "io/run_format/run_statistics.hpp"

namespace eventloom {

/// Adds to the status document of a run what run.h5 contains beyond ledger and events: counters of the run and its
/// sources, latency, clocks, builder times and rates during the run. Omits what is missing. Throws UserError if the
/// statistics name a source that the run does not have.
void add_statistics(Json& status, const RunStatistics& statistics);

}  // namespace eventloom
