#include "io/files/durable.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <system_error>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/disk_full.hpp"

namespace eventloom {

namespace {

std::string failure(const char* what, const std::filesystem::path& path) {
  return "cannot " + std::string(what) + " '" + path.string() + "': " + std::strerror(errno);
}

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) { throw UserError(failure(what, path)); }

/// Creates one component of the path to `wanted`. Returns false if the folder already exists.
bool make_folder(const std::filesystem::path& folder, const std::filesystem::path& wanted) {
  if (::mkdir(folder.c_str(), 0777) == 0) return true;
  const int reason = errno;
  std::error_code error;
  if (reason == EEXIST && std::filesystem::is_directory(folder, error)) return false;
  errno = reason == EEXIST && folder != wanted ? ENOTDIR : reason;
  fail("create the folder", wanted);
}

}  // namespace

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? "." : folder;
  const Descriptor open(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.is_open()) fail("open the folder", place);
  // Some file systems cannot sync a folder. The durability of its names then depends on them.
  if (::fsync(open.number()) != 0 && errno != EINVAL) fail("write the folder", place);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail("write", to);
  sync_folder(to.parent_path());
}

bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    sync_folder(to.parent_path());
    return true;
  }
  if (errno == EEXIST) return false;
  if (errno != EINVAL && errno != ENOSYS) fail("write", to);
  // Some file systems lack RENAME_NOREPLACE. The check and the rename are then not atomic.
  struct stat status {};
  if (::lstat(to.c_str(), &status) == 0) return false;
  rename_durably(from, to);
  return true;
}

void link_to_moved(const std::filesystem::path& file, const std::filesystem::path& link) {
  if (::symlink(file.c_str(), link.c_str()) != 0) {
    // A long path to the file takes a block of its own.
    if (means_full(errno)) throw DiskFull(failure("create the link", link));
    fail("create the link", link);
  }
  sync_folder(link.parent_path());
}

void create_folder_durably(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> made;
  std::filesystem::path place;
  try {
    for (const auto& step : folder) {
      place /= step;
      if (!make_folder(place, folder)) continue;
      made.push_back(place);
      sync_folder(place.parent_path());
    }
  } catch (const UserError&) {
    for (; !made.empty(); made.pop_back()) ::rmdir(made.back().c_str());
    throw;
  }
}

}  // namespace eventloom
