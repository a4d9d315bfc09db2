#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dataflow/run_totals.hpp"
#include "formats/slice_set.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

/// A finished part: its entry in run.h5, the slices it holds, and their contribution to the totals.
struct FinishedPart {
  PartInfo info;
  std::vector<SliceRun> slices;
  RunTotals totals;
};

/// Position where a writer's list of finished parts continues: see read_part_list().
struct PartListPlace {
  std::uint64_t good_bytes = 0;
  std::uint32_t chain = 0;
};

/// `<stem of run_file>.part-<writer, 4 digits>.list`
std::string part_list_name(const std::filesystem::path& run_file, std::uint32_t writer);

/// True when a file begins like a list, or is empty.
bool is_part_list(const std::filesystem::path& file);

/// Appends to a writer's list of finished parts. A part is finished when it is in this list. When append() returns, the
/// entry is on disk.
///
/// The list is text. Its first line is "eventloom-part-list 1"; each further line is one part:
///   <checksum, 8 hex digits> <JSON>
/// The checksum is the CRC-32C of the previous line's checksum (4 bytes, little-endian; 0 before the first part)
/// followed by the JSON text. The JSON also contains the previous line's checksum ("after"), which distinguishes a
/// misplaced line from an incomplete one.
class PartList {
 public:
  /// Opens or creates the list at `path` and makes its name durable. `good_bytes` and `chain` come from
  /// read_part_list(), or are 0 for a new list. Removes everything after `good_bytes`, such as a line that its writer
  /// did not complete. Locks the file if the file system supports locks. Throws UserError, also when another process
  /// holds the lock.
  PartList(std::filesystem::path path, std::uint64_t good_bytes, std::uint32_t chain);
  /// Throws UserError with path and reason, DiskFull where that is the reason. The entry then does not count, and the
  /// file is truncated after the last complete entry if possible. The call may be repeated.
  void append(const FinishedPart& part);

  /// Waits until no process holds the list at `path`: ranks may outlive their launcher for a moment. Throws UserError
  /// when that takes too long. Returns at once if the file system has no locks.
  static void wait_for_writer(const std::filesystem::path& path);

 private:
  struct File {
    int descriptor = -1;
    File() = default;
    ~File();
    File(const File&) = delete;
    File& operator=(const File&) = delete;
  };

  void put(std::string_view text);
  void cut();
  [[noreturn]] void fail(const char* what, int error) const;

  std::filesystem::path path_;
  File file_;
  std::uint64_t end_ = 0;    ///< offset of the next line
  std::uint32_t chain_ = 0;  ///< checksum of the last line
  bool clean_ = true;        ///< the file ends at `end_`
};

/// Atomically replaces the list at `path` by `parts`, all of one writer. Returns where the list continues.
PartListPlace rewrite_part_list(const std::filesystem::path& path, std::span<const FinishedPart> parts);

struct ReadPartList {
  std::vector<FinishedPart> parts;
  std::uint64_t good_bytes = 0;
  std::uint32_t chain = 0;       ///< checksum of the last entry; 0 without entries
  std::uint64_t torn_bytes = 0;  ///< size of an incomplete last entry
};

/// Reads a list. An incomplete or damaged last line is an entry that was being written, and does not count. All else is
/// damage: a bad line before others, a line that does not follow the previous one, segments that do not ascend,
/// parts of several writers. Throws UserError with path, line, offset and what was expected, also when the list does
/// not exist or cannot be read.
ReadPartList read_part_list(const std::filesystem::path& path);

}  // namespace eventloom
