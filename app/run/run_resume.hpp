#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "core/dataflow/run_totals.hpp"
#include "io/hdf5/run_file.hpp"
#include "io/hdf5/run_folder.hpp"

namespace eventloom {

/// State on disk of the run to be resumed, of the events of one definition; empty when there is none.
struct Resumption {
  bool resumes = false;   ///< there is an interrupted run; its finished parts are kept
  bool complete = false;  ///< there is nothing left to do
  SliceSet finished;      ///< slices before the first of the run count as finished
  std::map<std::uint32_t, WriterPlace> writers;
  // On rank 0 only:
  RunRecord before;             ///< of the run as it was begun, or has ended
  RunStatistics statistics;     ///< of the invocations that ended in good order
  RunTotals totals;             ///< of the finished parts
  std::vector<PartInfo> parts;  ///< the finished parts
};

/// Differences between `before` and `now` that change the result, in words; empty when there are none. The distribution
/// over ranks, and the way of writing, may change.
std::vector<std::string> differences(const RunRecord& before, const RunRecord& now);

/// Whether nothing is left to do for any definition.
bool all_complete(const std::vector<Resumption>& resumptions);
/// Whether there is an interrupted run of any definition.
bool any_resumes(const std::vector<Resumption>& resumptions);
/// The slices that are finished for all definitions.
SliceSet finished_in_all(const std::vector<Resumption>& resumptions);

/// Collective. Whether the outputs are those of a complete run, as far as known before its sources are open; one for
/// each definition.
std::vector<Resumption> find_complete_runs(const OutputSettings& output, const Collective& ranks);

/// Collective. Throws UserError when a complete run of live sources has damaged parts: they cannot be built again.
void require_undamaged(const OutputSettings& output, const std::vector<Resumption>& found, const Collective& ranks);

/// Collective. Finds an interrupted run of the output's name, and prepares its folder; `now` and the result have one
/// for each definition. Throws UserError when its input or definitions were different, or when its parts are damaged.
std::vector<Resumption> resume_run(const OutputSettings& output, const RunSetup& setup,
                                   const std::vector<RunRecord>& now, const Collective& ranks);

}  // namespace eventloom
