#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Recognises Eventloom's own files, by their contents and never by their names: no other file is ever replaced or
/// removed.
namespace eventloom {

/// Whether an existing file was written by Eventloom, wholly or in part.
using Recognise = bool (*)(const std::filesystem::path& file);

/// For files that never give way to another.
bool is_nobodys(const std::filesystem::path& file);

/// The first bytes of a file, at most `most`; empty when it cannot be read.
std::string head_of(const std::filesystem::path& file, std::size_t most);
/// Whether the file is JSON that begins with the member "format" of this value.
bool is_json_of(const std::filesystem::path& file, std::string_view format);

/// Identifies a file independently of its names.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
/// Follows links; nothing when there is no such file.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);
/// Of an open file.
std::optional<FileIdentity> identity_of(int descriptor);
/// Two names have the same key exactly when they denote one file, whether it exists or not.
std::string file_key(const std::filesystem::path& path);

/// Throws UserError when `path` exists and is not a regular file that is `ours`: it must not be replaced.
void refuse_foreign(const std::filesystem::path& path, Recognise ours);

/// Locks an open file, for this process or until the descriptor is closed. False when another process has locked it;
/// true also where the file system has no locks.
bool lock_file(int descriptor);

/// Removes a file that is `ours`, or empty; does nothing when there is none. Throws UserError, and removes nothing, for
/// any other file.
void remove_own(const std::filesystem::path& file, Recognise ours);
/// The same for a file that a dead writer has left: throws UserError also when another process is writing it.
void remove_leftover(const std::filesystem::path& file, Recognise ours);

}  // namespace eventloom
