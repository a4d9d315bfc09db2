#include "io/files/folder.hpp"

#include <algorithm>
#include <span>
#include <system_error>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "formats/crc32c.hpp"

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

std::filesystem::path folder_within(const std::filesystem::path& shared, const std::filesystem::path& folder) {
  std::error_code error;
  const auto place = std::filesystem::weakly_canonical(folder.empty() ? "." : folder, error).string();
  return shared / fmt::format("eventloom-{:08x}", crc32c(std::as_bytes(std::span(place))));
}

bool leads_to_moved(const std::filesystem::path& path) {
  std::error_code error;
  const auto place = std::filesystem::read_symlink(path, error).parent_path();
  return !error && place.is_absolute() && place == folder_within(place.parent_path(), path.parent_path());
}

}  // namespace eventloom
