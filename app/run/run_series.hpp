#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/observe/run_desk.hpp"
#include "app/run/run_config.hpp"
#include "app/run/run_view.hpp"
#include "app/run/run_watch.hpp"
#include "core/mpi/communicator.hpp"
#include "formats/control_wire.hpp"
#include "formats/ids.hpp"
#include "io/run_format/run_log.hpp"

namespace eventloom {

/// The surroundings that a run shares with the runs before and after it.
struct RunSurroundings {
  RunWatch& watch;
  Monitor* monitor = nullptr;         ///< rank 0 only, and only with --monitor
  RunDesk* desk = nullptr;            ///< rank 0 only; null: no other run follows
  std::optional<SliceId> begin = {};  ///< the run begins with this slice, where the one before it has ended
};

/// How a run has ended.
struct RunEnding {
  int code = kExitOk;
  std::string stopped_by = {};      ///< "" if its sources have ended
  std::optional<Cause> cause = {};  ///< not set: likewise
  std::optional<SliceId> end = {};  ///< its data end before this slice, if it was ended so
  LoggedRun::Totals totals = {};    ///< rank 0 only
};

/// Performs one run, on all ranks.
using RunOnce = std::function<RunEnding(const RunConfig&, const RunSurroundings&)>;

/// Collective. Performs one run after the other, as users request through the monitor, until a signal or a command ends
/// the program, or a run ends with an error or unfinished. MPI, the monitor and the connections to the sources persist;
/// each run has its own files, ledger and line in the log of the folder. Returns the highest exit code of the runs.
///
/// Between two runs the sources continue: their data are counted and discarded. A run begun by next-run starts where
/// the previous one ends; each hit belongs to the run that covers its time.
int run_series(const RunConfig& config, const RunOnce& run_once, const RunDescription& description, RunWatch& watch,
               const Communicator& ranks);

}  // namespace eventloom
