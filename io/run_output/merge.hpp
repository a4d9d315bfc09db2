#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace eventloom {

class OutputFile;

struct MergeSettings {
  std::optional<unsigned> compress = {};  ///< deflate level, 0 = off; std::nullopt: as in the run's parts
  bool partial = false;                   ///< also merge the finished parts of an unfinished run
  bool nexus = false;                     ///< add a NeXus entry, see NexusEntry
  /// Also copy what run.h5 states of its invocations: when and where they ran, statistics, list-mode files.
  bool with_invocations = false;
  std::function<void()> turn = {};  ///< called again and again while data are copied; may be empty
};

struct MergeResult {
  std::uint64_t events = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;  ///< size of the merged file
  std::string missing;      ///< missing slices of an unfinished run, in words; also stored in the file
};

/// A merged file that is complete but has its partial name until publish(); otherwise its destructor removes it.
class MergedFile {
 public:
  MergedFile(std::unique_ptr<OutputFile> file, MergeResult result);
  MergedFile(MergedFile&&) noexcept;
  ~MergedFile();

  [[nodiscard]] const MergeResult& result() const { return result_; }
  /// Waits until the file is on disk and gives it its name. Throws UserError.
  void publish();

 private:
  std::unique_ptr<OutputFile> file_;
  MergeResult result_;
};

/// Merges the part files of a run into one file with the same groups, and the attributes and sources of run.h5. Events
/// are in time order, the ledger in slice order. The contents do not depend on the distribution of events over parts.
/// Memory is bounded: reads ahead about 256 MiB in total.
///
/// `output` may be `run_file`, which publish() then replaces. Throws UserError when the run is not closed and `partial`
/// is off, when a part is missing or not as listed, or when the output cannot be written; an existing output file is
/// then unchanged.
MergedFile write_merged_file(const std::filesystem::path& run_file, const std::filesystem::path& output,
                             const MergeSettings& settings);

/// Likewise, and renames the file to its final name.
MergeResult merge_run(const std::filesystem::path& run_file, const std::filesystem::path& output,
                      const MergeSettings& settings);

}  // namespace eventloom
