#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "app/command/file_plan.hpp"
#include "app/run/output_settings.hpp"
#include "core/control/collective.hpp"
#include "io/event_files/event_target.hpp"
#include "io/hdf5/run_file.hpp"
#include "io/hdf5/run_folder.hpp"

/// The list-mode files that `run --also` writes beside its parts: what is in their place when the run begins or is
/// resumed. For rank 0 alone where nothing else is said. Throws UserError.
namespace eventloom {

/// Collective: what the files state of the run, as rank 0 knows it.
EventFileRun agreed_event_file_run(const RunRecord& record, const Collective& ranks);

/// Throws UserError if files that begin or end by trigger would have several writers.
void check_file_triggers(const OutputSettings& output, std::uint32_t writers);

/// Where the list-mode files of one definition go when its run begins.
class CompanionPlace {
 public:
  /// Finds the files of an earlier run of the output, which give way with it.
  CompanionPlace(const DefinitionOutput& output, bool force, const EventFileRun& run, std::uint32_t writers);

  /// Adds the names that the run will write, as far as they can be listed; others are examined when they are begun.
  void plan(FilePlan& plan) const;
  /// After the plan was checked: removes the files of the earlier run, and with --force all of these names.
  void clear() const;

 private:
  struct Output {
    EventTarget target;
    std::set<std::string> names;       ///< of this run
    std::set<std::string> earlier;     ///< finished files of the earlier run
    std::set<std::string> unfinished;  ///< names that it may have begun
  };
  void add_earlier(const DefinitionOutput& output);

  bool force_;
  std::vector<Output> outputs_;
};

/// Prepares the files of an interrupted run of one definition, before its parts: completes the renaming of those that
/// belong to finished parts, and removes those of `damaged` parts and unfinished ones.
void take_up_companions(const DefinitionOutput& output, const RunRecord& before, const FinishedWork& work,
                        const DamagedParts& damaged);

}  // namespace eventloom
