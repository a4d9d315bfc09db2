#pragma once

#include <filesystem>
#include <string>

#include "app/command/file_plan.hpp"

namespace eventloom {

struct MergeToFiles {
  std::filesystem::path run;  ///< run.h5, or a merged file
  std::string target;         ///< see EventTarget
  bool partial = false;       ///< also a run that has not ended
};

/// `merge --to`: the events of a run as list-mode data, in the order of time. `plan` has what else the command reads.
/// Returns the exit code.
int merge_to_files(const MergeToFiles& what, FilePlan& plan, FilePlan::Existing existing);

}  // namespace eventloom
