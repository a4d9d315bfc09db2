#pragma once

#include <vector>

#include "app/run/run_config.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// Looks at all files that a run reads and writes, before any is opened for writing; for one rank. Throws UserError
/// when one is in the way: see FilePlan. A finished run gives way only with --force, and so does an interrupted one
/// whose live data cannot come again. So do the time-sorted hits of a run that has ended.
void check_run_files(const RunConfig& config, const std::vector<SourceSpec>& specs);

}  // namespace eventloom
