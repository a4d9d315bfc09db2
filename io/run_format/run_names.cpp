#include "io/run_format/run_names.hpp"

#include "io/files/folder.hpp"
#include "io/files/partial_file.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

/// Removes `start` and `end` from `text` if it has both.
bool strip(std::string_view& text, std::string_view start, std::string_view end) {
  if (text.size() < start.size() + end.size() || !text.starts_with(start) || !text.ends_with(end)) return false;
  text = text.substr(start.size(), text.size() - start.size() - end.size());
  return true;
}

}  // namespace

bool is_part_of(const std::string& stem, std::string_view name) {
  strip(name, "", kPartial);
  return is_part_name(name) && name.substr(0, name.rfind(".part-")) == stem;
}

bool is_list_of(const std::string& stem, std::string_view name) {
  return strip(name, stem + ".part-", ".list") && is_part_number(name);
}

bool is_unfinished_list_of(const std::string& stem, std::string_view name) {
  return strip(name, "", kPartial) && is_list_of(stem, name);
}

bool is_place_of(const std::string& stem, std::string_view name) {
  strip(name, "", kPartial);
  return strip(name, stem + ".live-", ".place") && is_part_number(name);
}

bool is_reserve_of(const std::string& stem, std::string_view name) {
  strip(name, "", kPartial);
  return strip(name, stem, ".reserve") && name.empty();
}

fs::path folder_of(const fs::path& run_file) {
  return run_file.has_parent_path() ? run_file.parent_path() : fs::path(".");
}

std::vector<fs::path> files_in(const fs::path& folder, const std::function<bool(const std::string& name)>& wanted) {
  auto found = entries_in(folder);
  std::erase_if(found, [&](const fs::path& path) { return !wanted(path.filename().string()); });
  return found;
}

bool is_name_of_run(const fs::path& run_file, const std::string& name) {
  const auto main = run_file.filename().string();
  const auto stem = run_file.stem().string();
  return name == main || name == main + kPartial || is_part_of(stem, name) || is_list_of(stem, name) ||
         is_unfinished_list_of(stem, name) || is_place_of(stem, name) || is_reserve_of(stem, name);
}

bool is_name_of_part(const fs::path& run_file, const std::string& name) {
  return is_part_of(run_file.stem().string(), name);
}

}  // namespace eventloom
