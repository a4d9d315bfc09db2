#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Recognises Eventloom's own files by their contents, never by their names. No other file is ever replaced or removed.
namespace eventloom {

/// Whether an existing file was completely or partly written by Eventloom.
using Recognise = bool (*)(const std::filesystem::path& file);

/// Recognises no file: an existing file is never replaced.
bool is_nobodys(const std::filesystem::path& file);

/// The first bytes of a file, up to `most`; empty when it cannot be read.
std::string head_of(const std::filesystem::path& file, std::size_t most);
/// Whether the file is JSON whose first member is "format" with this value.
bool is_json_of(const std::filesystem::path& file, std::string_view format);

/// Identifies a file independently of its names.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
/// Follows links. std::nullopt when there is no such file.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);
/// Identity of an open file.
std::optional<FileIdentity> identity_of(int descriptor);
/// Two names have the same key if and only if they denote the same file, whether it exists or not.
std::string file_key(const std::filesystem::path& path);

/// Throws UserError when `path` exists and may not be replaced: it is not a regular file, or not `ours`. A link that
/// leads_to_moved() counts as the file itself, here and below.
void refuse_foreign(const std::filesystem::path& path, Recognise ours);

/// Locks an open file until its descriptor is closed. Returns false if another process has locked it; returns true on a
/// file system without locks.
bool lock_file(int descriptor);

/// Removes a file that is `ours` or empty; does nothing if there is none. For any other file, removes nothing and
/// throws UserError.
void remove_own(const std::filesystem::path& file, Recognise ours);
/// Like remove_own(), for a file left by a dead writer. Also throws UserError when another process is writing it.
void remove_leftover(const std::filesystem::path& file, Recognise ours);

}  // namespace eventloom
