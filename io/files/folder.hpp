#pragma once

#include <filesystem>
#include <vector>

namespace eventloom {

/// Whether this name exists, even as a dangling link.
bool is_there(const std::filesystem::path& path);

/// All entries of a folder (empty: the current one), sorted by name. Throws UserError when it cannot be read.
std::vector<std::filesystem::path> entries_in(const std::filesystem::path& folder);

/// The folder within `shared` for files of `folder` that lie there for a reason. Each folder has one of its own.
std::filesystem::path folder_within(const std::filesystem::path& shared, const std::filesystem::path& folder);

/// True for a symbolic link to a file that was moved to the folder within another for files of the link's folder, see
/// link_to_moved(). The file may be gone.
bool leads_to_moved(const std::filesystem::path& path);

}  // namespace eventloom
