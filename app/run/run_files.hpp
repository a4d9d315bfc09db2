#pragma once

#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_companions.hpp"
#include "io/registry/source_spec.hpp"

namespace eventloom {

/// Files that a run reads.
struct InputFiles {
  std::vector<SourceSpec> sources;
  std::string schedule;     ///< as in --schedule
  std::string config_file;  ///< of --config; empty: none
};

/// Checks all files that a run reads and writes, before any is opened for writing; for one rank. Throws UserError for a
/// conflict: see FilePlan. A finished run is replaced only with --force, and so are an interrupted one of live data,
/// which cannot be read again, and the time-sorted hits of a finished run.
void check_run_files(const InputFiles& inputs, const OutputSettings& output, const std::string& recordings);

/// Checks the names of list-mode files, as far as they depend on when the run began and on its roles, against all other
/// files of the run. Nothing may have been written yet.
void check_companions(const InputFiles& inputs, const OutputSettings& output,
                      const std::vector<CompanionPlace>& places);

}  // namespace eventloom
