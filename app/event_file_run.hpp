#pragma once

#include "io/event_files/event_target.hpp"
#include "io/hdf5/run_file.hpp"

namespace eventloom {

/// What list-mode files state of the run.
EventFileRun event_file_run(const RunRecord& record);

}  // namespace eventloom
