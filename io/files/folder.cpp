#include "io/files/folder.hpp"

#include <algorithm>
#include <system_error>

#include "core/runtime/error.hpp"

namespace eventloom {

bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::symlink_status(path, error));
}

std::vector<std::filesystem::path> entries_in(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> found;
  for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;) {
    found.push_back(entry->path());
    entry.increment(error);
  }
  if (error) throw UserError("cannot read the folder '" + folder.string() + "': " + error.message());
  std::ranges::sort(found);
  return found;
}

}  // namespace eventloom
