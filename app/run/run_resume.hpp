#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "app/run/output_settings.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "core/dataflow/run_totals.hpp"
#include "io/run_format/run_statistics.hpp"
#include "io/run_input/finished_work.hpp"
#include "io/run_input/run_file.hpp"
#include "io/run_output/run_folder.hpp"

namespace eventloom {

/// State on disk of the run to be resumed, for one definition; empty if there is none.
struct Resumption {
  bool resumes = false;   ///< there is an interrupted run, whose finished parts are kept
  bool complete = false;  ///< nothing is left to do
  bool merged = false;    ///< it is complete and has no parts: --merge has made one file of them; rank 0 only
  SliceSet finished;      ///< slices before the first of the run count as finished
  std::map<std::uint32_t, WriterPlace> writers;
  // Rank 0 only:
  RunRecord before;             ///< the run as it was begun, or as it ended
  RunStatistics statistics;     ///< sums over the invocations that ended cleanly
  RunTotals totals;             ///< sums over the finished parts
  std::vector<PartInfo> parts;  ///< the finished parts
};

/// Describes the differences between `before` and `now` that change the result; empty if there are none. The
/// distribution over ranks and the way of writing may differ.
std::vector<std::string> differences(const RunRecord& before, const RunRecord& now);

/// Whether all definitions are complete.
bool all_complete(const std::vector<Resumption>& resumptions);
/// Whether there is an interrupted run of any definition.
bool any_resumes(const std::vector<Resumption>& resumptions);
/// Returns the slices that are finished for all definitions.
SliceSet finished_in_all(const std::vector<Resumption>& resumptions);

/// Collective. Returns, for each definition, whether its output is that of a complete run, judged before any source is
/// opened.
std::vector<Resumption> find_complete_runs(const OutputSettings& output, const Collective& ranks);

/// Collective. Throws UserError if a complete run of live sources has damaged parts: these cannot be built again.
void require_undamaged(const OutputSettings& output, const std::vector<Resumption>& found, const Collective& ranks);

/// Collective. Finds an interrupted run of this output and prepares its folder. `now` and the result have one element
/// per definition. Throws UserError if the input or the definitions differ, or if parts are damaged that cannot be
/// built again.
std::vector<Resumption> resume_run(const OutputSettings& output, const RunSetup& setup,
                                   const std::vector<RunRecord>& now, const Collective& ranks);

}  // namespace eventloom
