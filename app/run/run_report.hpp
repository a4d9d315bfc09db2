#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_result.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "core/mpi/environment.hpp"

namespace eventloom {

/// Collective: the results of all ranks added up, on every rank.
RunResult add_up(const RunResult& mine, const Collective& ranks);

/// What does not add up in the account of a run that has ended; empty when all does. The sources, the builders and
/// the writers count on their own, and this holds them against each other.
std::vector<std::string> imbalances(const RunResult& result);

/// kExitOk, kExitLosses or kExitStopped.
int exit_code_of(const RunResult& result);

/// The worst of several.
int exit_code_of(const std::vector<RunResult>& results);

/// The summary for people, with a section for each definition. `stopped_by`: what an unfinished run was stopped by.
void print_summary(std::ostream& out, const OutputSettings& output, const RunSetup& setup,
                   const std::vector<RunResult>& results, const std::string& stopped_by);

/// The summary as one JSON object. Throws UserError when the file cannot be written.
void write_report_json(const OutputSettings& output, const RunSetup& setup, const std::vector<RunResult>& results,
                       const ExchangeBackend& backend);

}  // namespace eventloom
