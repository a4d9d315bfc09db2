#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eventloom {

/// A run of several definitions of events has a run file for each, and this index of them.
struct RunIndex {
  /// File names are relative to the folder of the index.
  struct Run {
    std::string name;
    std::string file;
    std::string definition;
  };
  bool closed = false;  ///< all of the runs are
  std::vector<Run> runs;
};

/// Replaces the index atomically. For HDF5 each run is a group of its name, by an external link. Throws UserError.
void write_run_index(const std::filesystem::path& path, const RunIndex& index);

/// Throws UserError when the file is not an index of a known version.
RunIndex read_run_index(const std::filesystem::path& path);

bool is_run_index(const std::filesystem::path& file);

/// For readers of runs. Throws UserError that names its run files when `file` is an index.
void refuse_index(const std::filesystem::path& file);

}  // namespace eventloom
