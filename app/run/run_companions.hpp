#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/command/file_plan.hpp"
#include "app/run/output_settings.hpp"
#include "core/control/collective.hpp"
#include "io/event_files/event_target.hpp"
#include "io/run_format/run_record.hpp"
#include "io/run_input/finished_work.hpp"
#include "io/run_output/run_folder.hpp"

/// List-mode files that `run --also` writes beside its parts: how existing files are treated when a run begins or
/// resumes. Functions are for rank 0 only unless stated otherwise, and throw UserError.
namespace eventloom {

/// Collective. Returns the properties of the run that its files state, as rank 0 knows them.
EventFileRun agreed_event_file_run(const RunRecord& record, const Collective& ranks);

/// Throws UserError if files that begin or end at triggers would have several writers.
void check_file_triggers(const OutputSettings& output, std::uint32_t writers);

/// The list-mode files of one definition when its run begins.
class CompanionPlace {
 public:
  /// Finds the files of an earlier run of this output, which are replaced with it.
  CompanionPlace(const DefinitionOutput& output, bool force, const EventFileRun& run, std::uint32_t writers);

  /// Adds the names that the run will write, up to a limit; further names are checked when the files are created.
  void plan(FilePlan& plan) const;
  /// Call after the plan has been checked. Removes the files of the earlier run, and with --force also those of
  /// Eventloom that have one of these names.
  void clear() const;

 private:
  struct Output {
    EventTarget target;
    std::set<std::string> names;       ///< names that this run writes
    std::set<std::string> earlier;     ///< finished files of the earlier run
    std::set<std::string> unfinished;  ///< unfinished files that the earlier run may have left
  };
  void add_earlier(const DefinitionOutput& output);

  bool force_;
  std::vector<Output> outputs_;
};

/// Prepares the files of an interrupted run of one definition; call before preparing its parts. Completes the renaming
/// of files of finished parts; removes unfinished files and those of `damaged` parts.
void take_up_companions(const DefinitionOutput& output, const RunRecord& before, const FinishedWork& work,
                        const DamagedParts& damaged);

}  // namespace eventloom
