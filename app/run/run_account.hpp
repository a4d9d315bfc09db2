#pragma once

#include "app/run/run_result.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"

namespace eventloom {

/// Rank 0 only. Fills in the counters, latency and clocks of `result` for run.h5. Adds the counts of earlier
/// invocations unless they are counted again: recordings are read again from the beginning, live data are not.
void add_account(RunResult& result, const RunSetup& setup, const Resumption& earlier);

}  // namespace eventloom
