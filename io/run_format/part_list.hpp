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

/// Where the list of a writer's finished parts continues: see read_part_list().
struct PartListPlace {
  std::uint64_t good_bytes = 0;
  std::uint32_t chain = 0;
};

/// `<stem of run_file>.part-<writer, 4 digits>.list`
std::string part_list_name(const std::filesystem::path& run_file, std::uint32_t writer);

/// Whether a file begins like a list, or is empty.
bool is_part_list(const std::filesystem::path& file);

/// Appends to the list of finished parts of one writer: a part is finished when it is in this list. An entry is on disk
/// when append() returns.
///
/// The list is text. Its first line is "eventloom-part-list 1"; each further line is one part:
///   <checksum, 8 hex digits> <JSON>
/// The checksum is the CRC-32C of the previous line's checksum (4 bytes, little-endian; 0 before the first part) and
/// the JSON text. The JSON holds the previous line's checksum as well ("after"): this distinguishes a line in the wrong
/// place from one that was not written completely.
class PartList {
 public:
  /// Opens or creates the list at `path`, and makes its name durable. `good_bytes` and `chain`: from read_part_list(),
  /// or 0 and 0 for a new list. Removes everything after `good_bytes`: a line that was being written when its writer
  /// died. Holds a lock on the file where the file system has locks. Throws UserError, also when another process holds
  /// the lock.
  PartList(std::filesystem::path path, std::uint64_t good_bytes, std::uint32_t chain);
  /// Throws UserError with path and reason (disk full, I/O error); then the entry does not count, and the file ends
  /// after the last complete entry as far as the file system allows. The call may be repeated.
  void append(const FinishedPart& part);

  /// Waits until no process holds the list at `path`: ranks may live on for a moment after their launcher was killed.
  /// Throws UserError when that takes too long. Where the file system has no locks, it returns at once.
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
  std::uint64_t end_ = 0;    ///< where the next line goes
  std::uint32_t chain_ = 0;  ///< checksum of the last line
  bool clean_ = true;        ///< nothing follows `end_`
};

/// Makes `parts`, of one writer, the whole contents of the list at `path`, atomically. Returns where the list
/// continues.
PartListPlace rewrite_part_list(const std::filesystem::path& path, std::span<const FinishedPart> parts);

struct ReadPartList {
  std::vector<FinishedPart> parts;
  std::uint64_t good_bytes = 0;
  std::uint32_t chain = 0;       ///< checksum of the last entry, 0 without one
  std::uint64_t torn_bytes = 0;  ///< of an incomplete entry
};

/// A last line that is incomplete or not intact is an entry that was being written; it does not count. Any other line
/// that is not intact is damage: a bad line before others, a line that does not follow the previous one, segments that
/// do not rise, parts of several writers. Throws UserError with path, line, offset and what was expected, and when the
/// list cannot be read (also when it does not exist).
ReadPartList read_part_list(const std::filesystem::path& path);

}  // namespace eventloom
