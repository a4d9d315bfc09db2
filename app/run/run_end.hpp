#pragma once

#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_result.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "app/run/run_view.hpp"
#include "app/run/run_watch.hpp"
#include "core/control/collective.hpp"
#include "core/mpi/exchange_backend.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

/// A run after its last slice. Results and records: one per definition; only those of rank 0 are used.
struct EndedRun {
  const RunSetup& setup;
  const std::vector<RunResult>& results;
  std::vector<RunRecord>& records;
  const ExchangeBackend& backend;
  std::string stopped_by;  ///< signal or rank that stopped the run; "" if it ended normally
};

/// Collective. Writes the files of the run as a whole, merges its parts with --merge, and shows the summary. Rank 0
/// does the work, the others sleep meanwhile. Returns the exit code.
int end_run(const OutputSettings& output, const EndedRun& run, RunWatch& watch, RunView& view, const Collective& ranks);

/// Collective. Likewise for a run that an earlier invocation had ended.
int end_complete(const OutputSettings& output, const std::vector<Resumption>& resumptions, RunWatch& watch,
                 const Collective& ranks);

}  // namespace eventloom
