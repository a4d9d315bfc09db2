#pragma once

#include <filesystem>
#include <vector>

namespace eventloom {

/// Whether this name exists, even as a dangling link.
bool is_there(const std::filesystem::path& path);

/// All entries of a folder (empty: the current one), sorted by name. Throws UserError when it cannot be read.
std::vector<std::filesystem::path> entries_in(const std::filesystem::path& folder);

}  // namespace eventloom
