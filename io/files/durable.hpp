#pragma once

#include <filesystem>

/// Durable changes to a file system. All throw UserError that names the file and the reason.
namespace eventloom {

/// Waits until the names in the folder (empty: the current one) are on disk, as far as its file system supports that.
void sync_folder(const std::filesystem::path& folder);

/// Renames a file that is on disk within its folder, durably. Replaces a file of the new name.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);
/// The same, but replaces nothing: false when the name is taken, as far as the file system can tell in one step.
bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to);

/// Creates the folder and its missing parents, and waits until their names are on disk. When one cannot be created,
/// those created before are removed again.
void create_folder_durably(const std::filesystem::path& folder);

}  // namespace eventloom
