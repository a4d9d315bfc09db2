#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace eventloom {

struct MergeSettings {
  std::optional<unsigned> compress;  ///< deflate level, 0 = off; std::nullopt: as in the run's parts
  bool partial = false;              ///< also merge the finished parts of an unfinished run
  bool nexus = false;                ///< add a NeXus entry, see NexusEntry
};

struct MergeResult {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;  ///< size of the merged file
  std::string missing;      ///< missing slices of an unfinished run, in words; also stored in the file
};

/// Merges the part files of a run into one file with the same groups, and the attributes and sources of run.h5. Events
/// are in time order, the ledger in slice order. The contents do not depend on the distribution of events over parts.
/// Memory is bounded: reads ahead about 256 MiB in total.
///
/// Throws UserError when the run is not closed and `partial` is off, when a part is missing or not as listed, or when
/// the output cannot be written; an existing output file is then unchanged.
MergeResult merge_run(const std::filesystem::path& run_file, const std::filesystem::path& output,
                      const MergeSettings& settings);

}  // namespace eventloom
