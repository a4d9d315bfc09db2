#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_result.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "core/mpi/exchange_backend.hpp"

namespace eventloom {

/// Collective. Returns the sum of the results of all ranks, on every rank.
RunResult add_up(const RunResult& mine, const Collective& ranks);

/// Returns the discrepancies in the account of a finished run; empty if it balances. Sources, builders and writers
/// count independently, and this compares their counts.
std::vector<std::string> imbalances(const RunResult& result);

/// Returns kExitOk, kExitLosses or kExitStopped.
int exit_code_of(const RunResult& result);

/// Returns the most severe of the exit codes.
int exit_code_of(const std::vector<RunResult>& results);

/// Prints the summary, with a section per definition. `stopped_by`: what stopped an unfinished run.
void print_summary(std::ostream& out, const OutputSettings& output, const RunSetup& setup,
                   const std::vector<RunResult>& results, const std::string& stopped_by);

/// Writes the summary as one JSON object, without part files that have been merged. Throws UserError if the file cannot
/// be written.
void write_report_json(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results,
                       const ExchangeBackend& backend);

}  // namespace eventloom
