#pragma once

#include <filesystem>

/// Durable changes to a file system. All functions throw UserError that names the file and the reason.
namespace eventloom {

/// Waits until the names in the folder (empty: the current one) are on disk, if its file system supports that.
void sync_folder(const std::filesystem::path& folder);

/// Durably renames, within its folder, a file whose contents are on disk. Replaces an existing file `to`.
void rename_durably(const std::filesystem::path& from, const std::filesystem::path& to);
/// Like rename_durably(), but returns false if the name is taken. Atomic only on file systems that support it.
bool rename_to_free_name(const std::filesystem::path& from, const std::filesystem::path& to);

/// Durably creates `link`, a symbolic link to `file`, an absolute path. Fails if the name is taken; throws DiskFull
/// when the disk is full.
void link_to_moved(const std::filesystem::path& file, const std::filesystem::path& link);

/// Creates the folder and its missing parents, and waits until their names are on disk. If one cannot be created, the
/// folders created so far are removed.
void create_folder_durably(const std::filesystem::path& folder);

}  // namespace eventloom
