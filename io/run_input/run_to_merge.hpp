#pragma once

#include <filesystem>
#include <string>

#include "io/run_input/run_file.hpp"

namespace eventloom {

/// A run whose parts are to be merged.
struct RunToMerge {
  RunFile run;
  std::string missing;  ///< missing slices of an unfinished run, in words
};
/// Opens a run. If it is not closed, it has only its finished parts. Throws UserError when it is not closed and
/// `partial` is off.
RunToMerge open_run_to_merge(const std::filesystem::path& run_file, bool partial);

}  // namespace eventloom
