#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "io/files/descriptor.hpp"
#include "io/files/own_file.hpp"

namespace eventloom {

/// Suffix of a file that is being written.
inline constexpr const char* kPartial = ".partial";

/// A file that is being written: `<place>.partial`, locked as long as this lives, until publish() renames it. It is
/// always created anew: the remains of a dead writer are removed; any other file, or one that another process is
/// writing, is refused. The destructor removes the file unless publish() was called. All errors throw UserError that
/// names the file.
class PartialFile {
 public:
  /// Refuses a `place` that exists and is not a regular file that is `ours`.
  PartialFile(std::filesystem::path place, Recognise ours);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

  /// Appends, in one call.
  void write(std::span<const std::byte> bytes);
  /// Makes this empty file a copy of another file, possibly on another file system, in large writes. It begins with
  /// `mark` until everything else is on disk.
  void copy_from(const std::filesystem::path& from, std::string_view mark);
  /// Waits until the contents and the name are on disk.
  void sync();
  /// After sync(): renames the file, replacing the file that had its name at construction, and waits for the disk.
  /// Refuses a file that has been created there since.
  void publish();
  /// Keeps the partial file.
  void keep() { kept_ = true; }

 private:
  void create(Recognise ours);
  [[noreturn]] void fail(const char* what) const;
  [[noreturn]] void refuse_newcomer() const;

  std::filesystem::path place_;
  std::filesystem::path path_;
  std::optional<FileIdentity> before_;  ///< of the file at `place`
  Descriptor descriptor_;
  bool kept_ = false;
};

/// Writes a whole text file, which gets its name when it is on disk. Throws UserError.
void write_text_file(const std::filesystem::path& place, const std::string& text, Recognise ours);

}  // namespace eventloom
