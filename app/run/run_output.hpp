#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_result.hpp"
#include "app/run/run_setup.hpp"
#include "core/mpi/exchange_backend.hpp"
#include "io/run_format/run_record.hpp"

/// The files of a run as a whole, besides the parts of its writers. All functions are for rank 0 only, and throw
/// UserError if a file cannot be written.
namespace eventloom {

/// Returns the command line of this process, quoted for a shell.
std::string command_line_of_process();
/// Returns the records of a run that is about to begin, one per definition.
std::vector<RunRecord> describe(const OutputSettings& output, const RunSetup& setup);
/// Adds earlier invocations: their start, hosts, command lines and commands.
void add_invocations(RunRecord& record, const RunRecord& before);

/// Replaces earlier output and writes the first version of the run file, so that an unwritable folder is reported
/// before any work.
void begin_output(const OutputSettings& output, const std::string& run_file, const RunRecord& record);
/// Replaces the index, if the definitions have names. `resumes`: its run continues, and the files beside it stay.
void begin_index(const OutputSettings& output, bool resumes);
/// Adds the commands that steered the run.
void add_commands(RunRecord& record, const std::vector<CommandRecord>& commands);
/// Writes the report, the manifest of sorted hits and, for a finished run, the run files and their index. The latter
/// come last: they close the run. `results`, `records`: one per definition.
void write_results(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results,
                   std::vector<RunRecord>& records, const ExchangeBackend& backend);
/// Replaces the run files of a closed run, and their parts, by merged files; run files that are merged already stay.
/// First completes all merged files, so that the definitions of a run stay together. Removes a part only when the file
/// that holds its events is on disk. Calls `turn` again and again. After an error or a crash, another call completes
/// the work.
void merge_output(const OutputSettings& output, const std::function<void()>& turn);
/// Removes all other files of a closed run: only its run file and `parts` remain.
void clear_up(const std::string& run_file, const std::vector<PartInfo>& parts);

}  // namespace eventloom
