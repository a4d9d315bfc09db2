#pragma once

#include <filesystem>

/// What a file system has for sure. All throw UserError that names the file and the reason.
namespace eventloom {

/// Waits until the names in the folder (empty: the current one) are on disk, as far as its file system can.
void sync_folder(const std::filesystem::path& folder);

/// Gives a file that is on disk another name in its folder, for sure. Replaces what had it.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace eventloom
