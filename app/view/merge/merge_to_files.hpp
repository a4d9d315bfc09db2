#pragma once

#include <filesystem>
#include <string>

#include "app/command/file_plan.hpp"

namespace eventloom {

struct MergeToFiles {
  std::filesystem::path run;  ///< run.h5, or a merged file
  std::string target;         ///< see EventTarget
  bool partial = false;       ///< accept a run that has not ended
};

/// Implements `merge --to`: writes the events of a run as list-mode data, in time order. `plan` already contains the
/// other files that the command reads. Returns the exit code.
int merge_to_files(const MergeToFiles& what, FilePlan& plan, FilePlan::Existing existing);

}  // namespace eventloom
