#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace eventloom {

/// Index of a run with several definitions of events, which has a run file for each.
struct RunIndex {
  /// `file` is relative to the folder of the index.
  struct Run {
    std::string name;
    std::string file;
    std::string definition;
  };
  bool closed = false;  ///< all runs are closed
  std::vector<Run> runs;
};

/// Replaces the index atomically. Each run is also an external link of its name, which HDF5 shows as a group. Throws
/// UserError.
void write_run_index(const std::filesystem::path& path, const RunIndex& index);

/// Throws UserError when the file is not an index of a known version.
RunIndex read_run_index(const std::filesystem::path& path);

bool is_run_index(const std::filesystem::path& file);

/// Throws UserError with the names of the run files when `file` is an index. Call before reading a single run.
void refuse_index(const std::filesystem::path& file);

}  // namespace eventloom
