#pragma once

#include <vector>

#include "app/run/run_companions.hpp"
#include "app/run/run_config.hpp"
#include "io/registry/open_sources.hpp"

namespace eventloom {

/// Checks all files that a run reads and writes, before any is opened for writing; for one rank. Throws UserError for a
/// conflict: see FilePlan. A finished run is replaced only with --force, and so are an interrupted one of live data,
/// which cannot be read again, and the time-sorted hits of a finished run.
void check_run_files(const RunConfig& config, const std::vector<SourceSpec>& specs);

/// Checks the names of list-mode files, as far as they depend on when the run began and on its roles, against all other
/// files of the run. Nothing may have been written yet.
void check_companions(const RunConfig& config, const std::vector<SourceSpec>& specs,
                      const std::vector<CompanionPlace>& places);

}  // namespace eventloom
