#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/runtime/error.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// Suffix of a file that is being written.
inline constexpr const char* kPartial = ".partial";

/// A file being written: `<place>.partial`, until publish() renames it; locked for this object's lifetime. The
/// constructor creates a new file: it removes the file of a dead writer, and refuses any other file, including the
/// files of running writers. The destructor removes the file unless publish() or keep() was called. All errors throw
/// UserError that names the file; DiskFull where that is the reason.
class PartialFile {
 public:
  /// Refuses a `place` that exists and is not a regular file, or is not `ours`.
  PartialFile(std::filesystem::path place, Recognise ours);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

  /// Appends all bytes.
  void write(std::span<const std::byte> bytes);
  /// Makes this empty file a copy of `from`, possibly on another file system, in large writes. The copy begins with
  /// `mark` until everything else is on disk.
  void copy_from(const std::filesystem::path& from, std::string_view mark);
  /// Waits until the contents and the name are on disk.
  void sync();
  /// Renames the file durably; call sync() first. Replaces the file that was at `place` at construction, but throws if
  /// another file has been created there since.
  void publish();
  /// Keeps the partial file after destruction.
  void keep() { kept_ = true; }

 private:
  void create(Recognise ours);
  [[noreturn]] void fail(const char* what) const;
  [[noreturn]] void refuse_newcomer() const;

  std::filesystem::path place_;
  std::filesystem::path path_;
  std::optional<FileIdentity> before_;  ///< the file at `place` at construction
  Descriptor descriptor_;
  bool kept_ = false;
};

/// Writes a whole text file, which gets its name once it is on disk. Throws UserError.
void write_text_file(const std::filesystem::path& place, const std::string& text, Recognise ours);

}  // namespace eventloom
