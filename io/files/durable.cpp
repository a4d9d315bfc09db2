#include "io/files/durable.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/runtime/error.hpp"
#include "io/files/descriptor.hpp"

namespace eventloom {

namespace {

[[noreturn]] void fail(const char* what, const std::filesystem::path& path) {
  throw UserError("cannot " + std::string(what) + " '" + path.string() + "': " + std::strerror(errno));
}

}  // namespace

void sync_folder(const std::filesystem::path& folder) {
  const std::filesystem::path place = folder.empty() ? "." : folder;
  const Descriptor open(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open.is_open()) fail("open the folder", place);
  // Some file systems cannot sync a folder; then its names are as safe as they make them.
  if (::fsync(open.number()) != 0 && errno != EINVAL) fail("write the folder", place);
}

void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) fail("write", to);
  sync_folder(to.parent_path());
}

}  // namespace eventloom
