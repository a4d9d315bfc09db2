#pragma once

#include "app/run/run_report.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"

namespace eventloom {

/// Rank 0 alone: counters, latency and clocks of `result`, as run.h5 keeps them. What earlier invocations have counted
/// is added where it is not counted again: recordings are read again from their beginning, live data are not.
void add_account(RunResult& result, const RunSetup& setup, const Resumption& earlier);

}  // namespace eventloom
