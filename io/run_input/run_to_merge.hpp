#pragma once

#include <filesystem>
#include <string>

#include "io/run_input/run_file.hpp"

namespace eventloom {

/// A run whose parts are to be merged.
struct RunToMerge {
  RunFile run;
  std::string missing;  ///< of a run that has not ended, in words
};
/// Throws UserError when the run is not closed and `partial` is off; else such a run has what it has finished.
RunToMerge open_run_to_merge(const std::filesystem::path& run_file, bool partial);

}  // namespace eventloom
