#pragma once

#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_result.hpp"
#include "app/run/run_setup.hpp"
#include "core/mpi/environment.hpp"
#include "io/hdf5/run_file.hpp"

/// The files that a run leaves as a whole, besides the parts of its writers. All of it is for rank 0 alone, and throws
/// UserError where a file cannot be written.
namespace eventloom {

/// As the system knows it, as a shell takes it.
std::string command_line_of_process();
/// What the run files of a run that is about to begin say, one for each of its definitions.
std::vector<RunRecord> describe(const OutputSettings& output, const RunSetup& setup);
/// Adds earlier invocations: their beginning, hosts, command lines and commands.
void add_invocations(RunRecord& record, const RunRecord& before);

/// Prepares the folder, so that an unwritable one shows before the work.
void begin_output(const std::string& run_file, const std::string& save_sorted, const RunRecord& record);
/// Where definitions have names, replaces what is in the place of their index.
void begin_index(const OutputSettings& output);
/// Adds those who steered the run.
void add_commands(RunRecord& record, const std::vector<CommandRecord>& commands);
/// The report, the manifest of sorted hits and, for a run that is finished, the run files and their index. These come
/// last: they close the run. `results`, `records`: one for each definition.
void write_results(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results,
                   std::vector<RunRecord>& records, const ExchangeBackend& backend);
/// For a closed run: only its run file and its `parts` remain.
void clear_up(const std::string& run_file, const std::vector<PartInfo>& parts);

}  // namespace eventloom
