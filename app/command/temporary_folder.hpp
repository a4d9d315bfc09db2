#pragma once

#include <filesystem>
#include <string>

namespace eventloom {

/// A new folder for temporary files, which nobody else can read; removed with all that it holds.
class TemporaryFolder {
 public:
  /// `purpose`: part of its name. Throws UserError.
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
