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
  std::string schedule;     ///< value of --schedule; may name a file
  std::string config_file;  ///< file of --config; empty: none
};

/// Checks all files that a run reads and writes, before any is opened for writing; `recordings`: folder of --record.
/// For one rank. Throws UserError in case of a conflict, see FilePlan. Without --force, neither a finished run nor its
/// time-sorted hits are replaced, nor an interrupted run of live data, which cannot be read again.
void check_run_files(const InputFiles& inputs, const OutputSettings& output, const std::string& recordings);

/// Checks the names of list-mode files, which depend on the start time and the roles of the run, against all other
/// files of the run. Call before anything is written.
void check_companions(const InputFiles& inputs, const OutputSettings& output,
                      const std::vector<CompanionPlace>& places);

}  // namespace eventloom
