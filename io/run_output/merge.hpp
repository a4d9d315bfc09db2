#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace eventloom {

struct MergeSettings {
  std::optional<unsigned> compress;  ///< deflate level, 0 = off; nothing: as the parts of the run
  bool partial = false;              ///< also a run that has not ended: what it has finished
  bool nexus = false;                ///< with a NeXus entry, see NexusEntry
};

struct MergeResult {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;  ///< of the merged file
  std::string missing;      ///< of a run that has not ended, in words; the file says so, too
};

/// Merges the part files of a run into one file with the same groups, events in time order, ledger in slice
/// order, and with the attributes and sources of run.h5. The contents do not depend on how the events were spread over
/// parts. Memory is bounded: reads ahead about 256 MiB in all.
///
/// Throws UserError when the run is not closed and `partial` is off, when a part is missing or not as listed, or when
/// the output cannot be written; the output's name is then unchanged.
MergeResult merge_run(const std::filesystem::path& run_file, const std::filesystem::path& output,
                      const MergeSettings& settings);

}  // namespace eventloom
