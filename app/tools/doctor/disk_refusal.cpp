#include "app/tools/doctor/disk_refusal.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "app/command/shell_word.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr const char* kElsewhere = "eventloom run --output FILE ... with a file on another file system";

/// Returns the first component of the path that exists and is not a folder.
fs::path file_in_the_way(const fs::path& folder) {
  fs::path part;
  for (const auto& name : folder) {
    part /= name;
    std::error_code error;
    if (fs::exists(part, error) && !fs::is_directory(part, error)) break;
  }
  return part;
}

/// Returns a fix for an existing folder that refuses its owner or this user.
std::string fix_of_permission(const fs::path& folder) {
  const auto word = shell_word(folder.string());
  struct stat status {};
  // A parent folder denies access.
  if (::stat(folder.c_str(), &status) != 0) return "namei -l " + word;
  if (status.st_uid == ::geteuid()) return "chmod u+wx " + word;
  return "ls -ld " + word + "; its owner can let you write there, or use another --output";
}

}  // namespace

fs::path folder_of_output(const fs::path& output) {
  std::error_code error;
  if (fs::is_directory(output, error)) return output;
  const bool file = fs::exists(output, error) || output.extension() == ".h5";
  if (!file) return output;
  return output.has_parent_path() ? output.parent_path() : fs::path(".");
}

std::string fix_of_refusal(const fs::path& folder, int error) {
  const auto word = shell_word(folder.string());
  std::error_code unknown;
  switch (error) {
    case ENOENT:
      // No file can be created in such a folder, for example /proc.
      return fs::exists(folder, unknown) ? kElsewhere : "mkdir -p " + word;
    case ENOTDIR:
      return "ls -l " + shell_word(file_in_the_way(folder).string()) + "; use a folder in place of this file";
    case EACCES: return fix_of_permission(folder);
    case EROFS: return kElsewhere;
    case ENOSPC: return "df -h " + word + "; df -i " + word;
    case EDQUOT: return "quota -s";
    default: return "ls -ld " + word;
  }
}

}  // namespace eventloom
