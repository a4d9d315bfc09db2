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

/// Behind the name of a file in the making.
inline constexpr const char* kPartial = ".partial";

/// A file in the making: `<place>.partial`, locked as long as this lives, until publish() gives it its name. It is
/// always made anew: what a writer that died has left there is removed, anything else is refused, and so is one that
/// another process is writing. Destroyed before publish() is called, it removes the file. All errors throw UserError
/// that names the file.
class PartialFile {
 public:
  /// Refuses a `place` that has anything but a plain file that is `ours`.
  PartialFile(std::filesystem::path place, Recognise ours);
  ~PartialFile();
  PartialFile(const PartialFile&) = delete;
  PartialFile& operator=(const PartialFile&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] int descriptor() const { return descriptor_.number(); }

  /// Appends, in one go.
  void write(std::span<const std::byte> bytes);
  /// Makes this, which is empty yet, a copy of another file, of another file system maybe, in large writes. It begins
  /// with `mark` until all the rest is on disk.
  void copy_from(const std::filesystem::path& from, std::string_view mark);
  /// Waits until what was written is on disk, and that there is such a file.
  void sync();
  /// After sync(): gives the file its name, replacing what had it when this was made, and waits for the disk. Refuses
  /// what has come there since, also in this moment where there was nothing.
  void publish();
  /// Leaves the file as it is.
  void keep() { kept_ = true; }

 private:
  void create(Recognise ours);
  [[noreturn]] void fail(const char* what) const;
  [[noreturn]] void refuse_newcomer() const;

  std::filesystem::path place_;
  std::filesystem::path path_;
  std::optional<FileIdentity> before_;  ///< of what has the place
  Descriptor descriptor_;
  bool kept_ = false;
};

/// Writes a whole text file: it has its name when it is on disk. Throws UserError.
void write_text_file(const std::filesystem::path& place, const std::string& text, Recognise ours);

}  // namespace eventloom
