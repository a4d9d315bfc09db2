#pragma once

#include <filesystem>
#include <string>

namespace eventloom {

/// A new folder for temporary files that only this user can read. The destructor removes it with its contents.
class TemporaryFolder {
 public:
  /// `purpose`: part of the folder's name. Throws UserError.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace eventloom
