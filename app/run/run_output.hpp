#pragma once

#include <string>
#include <vector>

#include "app/run/run_config.hpp"
#include "app/run/run_report.hpp"
#include "app/run/run_setup.hpp"
#include "core/mpi/environment.hpp"
#include "io/hdf5/run_file.hpp"

/// The files that a run leaves as a whole, besides the parts of its writers. All of it is for rank 0 alone, and throws
/// UserError where a file cannot be written.
namespace eventloom {

/// What run.h5 says of a run that is about to begin.
RunRecord describe(const RunConfig& config, const RunSetup& setup);
/// Adds earlier invocations: their beginning, hosts, command lines and commands.
void add_invocations(RunRecord& record, const RunRecord& before);

/// Prepares the folder, so that an unwritable one shows before the work.
void begin_output(const RunConfig& config, const RunRecord& record);
/// Adds those who steered the run.
void add_commands(RunRecord& record, const std::vector<CommandRecord>& commands);
/// The report, the manifest of sorted hits and, for a run that is finished, the run file. That comes last: it closes
/// the run.
void write_results(const RunConfig& config, const RunSetup& setup, const RunResult& result, RunRecord& record,
                   const ExchangeBackend& backend);
/// For a closed run: only run.h5 and its `parts` remain.
void clear_up(const RunConfig& config, const std::vector<PartInfo>& parts);

}  // namespace eventloom
