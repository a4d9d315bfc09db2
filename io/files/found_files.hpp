#pragma once

#include <string>
#include <vector>

namespace eventloom {

/// Whether `path` is a pattern, with *, ? or [.
bool has_wildcard(const std::string& path);

/// Files that match `pattern`, in the natural order of their names (see comes_before()). A file with exactly this name
/// takes precedence.
std::vector<std::string> found_files(const std::string& pattern);

}  // namespace eventloom
