#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dataflow/run_totals.hpp"
#include "formats/slice_set.hpp"
#include "io/hdf5/part_info.hpp"

namespace eventloom {

/// A finished part: what run.h5 will list, which slices it holds, and what they add to the totals.
struct FinishedPart {
  PartInfo info;
  std::vector<SliceRun> slices;
  RunTotals totals;
};

/// Where the list of a writer's finished parts goes on: see read_part_list().
struct PartListPlace {
  std::uint64_t good_bytes = 0;
  std::uint32_t chain = 0;
};

/// `<stem of run_file>.part-<writer, 4 digits>.list`
std::string part_list_name(const std::filesystem::path& run_file, std::uint32_t writer);

/// Whether a file begins as a list does, or has not been written.
bool is_part_list(const std::filesystem::path& file);

/// Appends to the list of finished parts of one writer: being in it is what makes a part finished. An entry
/// is on disk when append() returns.
///
/// The list is text. Its first line is "eventloom-part-list 1"; each further line is one part:
///   <checksum, 8 hex digits> <JSON>
/// The checksum is the CRC-32C of the checksum of the line before (4 bytes, little-endian; 0 before the first
/// part) and the JSON text. The JSON names the checksum of the line before, too ("after"), so that a line that
/// follows another than its own is told from one that was not written whole.
class PartList {
 public:
  /// Opens the list at `path`, or makes it, and makes its name durable. `good_bytes` and `chain`: from
  /// read_part_list(), or 0 and 0 for a new list. Cuts what stands behind `good_bytes`: a line that was being
  /// written when its writer died. Holds a lock on the file where the file system has any. Throws UserError,
  /// also when another holds it.
  PartList(std::filesystem::path path, std::uint64_t good_bytes, std::uint32_t chain);
  /// Throws UserError with path and reason (disk full, I/O error); then the entry does not count, and the file
  /// ends behind the last whole entry again as far as the file system lets it. It may be tried again.
  void append(const FinishedPart& part);

  /// Waits until no process holds the list at `path`: ranks may live on for a moment when their launcher was
  /// killed. Throws UserError when that takes too long. Where the file system has no locks, it returns at once.
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
  bool clean_ = true;        ///< whether nothing stands behind `end_`
};

/// Makes `parts`, of one writer, all that the list at `path` has, in one step. Returns where the list goes on.
PartListPlace rewrite_part_list(const std::filesystem::path& path, std::span<const FinishedPart> parts);

struct ReadPartList {
  std::vector<FinishedPart> parts;
  std::uint64_t good_bytes = 0;
  std::uint32_t chain = 0;       ///< checksum of the last entry, 0 without one
  std::uint64_t torn_bytes = 0;  ///< of an entry that was not written whole
};

/// A last line that is not whole or does not prove itself is an entry that was being written; it does not
/// count. Anything else that does not prove itself is damage: a line that fails with others behind it, a line
/// that belongs behind another than the one before it, segments that do not rise, parts of several writers.
/// Throws UserError with path, line, offset and what was expected, and when the list cannot be read (also
/// when there is none).
ReadPartList read_part_list(const std::filesystem::path& path);

}  // namespace eventloom
