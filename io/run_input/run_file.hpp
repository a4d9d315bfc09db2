#pragma once

#include <filesystem>
#include <vector>

#include "io/run_format/part_info.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

struct RunFile {
  RunRecord record;
  std::vector<PartInfo> parts;
  // Only for merged files:
  bool merged = false;
  std::vector<EventFileInfo> event_files = {};  ///< list-mode files of the run, if the file replaced its run.h5
};

/// Throws UserError when the file is not a run.h5 of a known version.
RunFile read_run_file(const std::filesystem::path& path);

/// Likewise, for a file that may be a run.h5 or the merged file that replaced it. Also throws UserError for a merged
/// file of a run that had not ended.
RunFile read_run_or_merged(const std::filesystem::path& path);

/// Reads the attributes and sources of a run.h5 or a merged file, which has the same.
RunRecord read_run_record(const std::filesystem::path& path);

/// The run file and its parts; only the run file when the run has not ended.
std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& run_file);

}  // namespace eventloom
