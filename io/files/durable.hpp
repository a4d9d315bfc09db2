#pragma once

#include <filesystem>

/// What a file system has for sure. All throw UserError that names the file and the reason.
namespace eventloom {

/// Waits until the names in the folder (empty: the current one) are on disk, as far as its file system can.
void sync_folder(const std::filesystem::path& folder);

/// Gives a file that is on disk another name in its folder, for sure. Replaces what had it.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);
/// The same, but replaces nothing: false when the name is taken, as far as the file system can tell in one step.
bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to);

/// Makes the folder and those above it that are missing, and waits until their names are on disk. When one cannot be
/// made, those made before are removed again.
void create_folder_durably(const std::filesystem::path& folder);

}  // namespace eventloom
