#pragma once

#include <filesystem>
#include <vector>

namespace eventloom {

/// All that is in a folder (empty: the current one), by name. Throws UserError when it cannot be read.
std::vector<std::filesystem::path> entries_in(const std::filesystem::path& folder);

}  // namespace eventloom
