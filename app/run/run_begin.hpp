#pragma once

#include <memory>
#include <vector>

#include "app/run/run_config.hpp"
#include "app/run/run_resume.hpp"
#include "app/run/run_setup.hpp"
#include "core/control/collective.hpp"
#include "io/files/output_lock.hpp"
#include "io/run_format/run_record.hpp"

/// Everything about a run's files before its first slice. All functions are collective and throw UserError, the same on
/// all ranks.
namespace eventloom {

using OutputLocks = std::vector<std::unique_ptr<OutputLock>>;

/// While rank 0 holds the locks, no other run writes these outputs. The files are checked under the locks, because an
/// earlier run may just have ended.
OutputLocks lock_outputs(const RunConfig& config, const Collective& ranks);

/// `--resume --force`: continues an interrupted run, replaces a complete one.
void choose_by_what_is_there(RunConfig& config, const Collective& ranks);

/// Prepares to continue. The records become those of all invocations that contribute to this run.
void continue_from(const std::vector<Resumption>& resumptions, RunSetup& setup, std::vector<RunRecord>& records);

/// Prepares the scratch folders and begins the outputs: replaces existing ones, except those of definitions whose run
/// is resumed.
void prepare_output(const RunConfig& config, const RunSetup& setup, const std::vector<RunRecord>& records,
                    const std::vector<Resumption>& resumptions, const Collective& ranks);

}  // namespace eventloom
