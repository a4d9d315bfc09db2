#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/run/run_config.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "core/dataflow/run_totals.hpp"
#include "io/hdf5/run_file.hpp"
#include "io/hdf5/run_folder.hpp"

namespace eventloom {

/// What is on disk of the run that is to be resumed. With nothing to go on from, all is empty.
struct Resumption {
  bool goes_on = false;   ///< there is an interrupted run; what it has finished is kept
  bool complete = false;  ///< there is nothing left to do
  SliceSet finished;      ///< slices before the first of the run count as finished
  std::map<std::uint32_t, WriterPlace> writers;
  // On rank 0 only:
  RunRecord before;             ///< of the run as it was begun, or has ended
  RunTotals totals;             ///< of the finished parts
  std::vector<PartInfo> parts;  ///< the finished parts
};

/// What makes the result of `now` another than that of `before`, in words; empty when nothing does.
/// How a run is spread over ranks, and how it writes, may change.
std::vector<std::string> differences(const RunRecord& before, const RunRecord& now);

/// Collective. Whether the output is that of a run that is complete, as far as can be told before its sources are open.
Resumption find_complete_run(const RunConfig& config, const Collective& ranks);

/// Collective. Throws UserError when a complete run of live sources has damaged parts: they cannot be built again.
void require_undamaged(const RunConfig& config, const Resumption& found, const Collective& ranks);

/// Collective. Looks for an interrupted run under the output's name, and brings its folder into order.
/// Throws UserError when its input or meaning was another, or when what it has left is damaged.
Resumption resume_run(const RunConfig& config, const RunSetup& setup, const RunRecord& now, const Collective& ranks);

}  // namespace eventloom
