#include "io/files/found_files.hpp"

#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "io/files/natural_order.hpp"

namespace eventloom {

bool has_wildcard(const std::string& path) { return path.find_first_of("*?[") != std::string::npos; }

std::vector<std::string> found_files(const std::string& pattern) {
  std::error_code error;
  if (std::filesystem::exists(pattern, error)) return {pattern};
  if (!has_wildcard(pattern)) return {};
  glob_t found{};
  const int status = glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths;
  if (status == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  std::ranges::sort(paths, comes_before);
  return paths;
}

}  // namespace eventloom
