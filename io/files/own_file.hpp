#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

/// Which files are Eventloom's own. Told by what is in them, never by their names: nothing else is ever replaced or
/// removed.
namespace eventloom {

/// Whether a file, which is there, is one that Eventloom wrote, whole or in part.
using Recognise = bool (*)(const std::filesystem::path& file);

/// Of what never gives way to another file.
bool is_nobodys(const std::filesystem::path& file);

/// The first bytes of a file, at most `most`; empty when it cannot be read.
std::string head_of(const std::filesystem::path& file, std::size_t most);
/// Whether the file is JSON that begins with the member "format" of this value.
bool is_json_of(const std::filesystem::path& file, std::string_view format);

/// A file by what it is rather than by its name.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};
/// Through links; nothing when there is none.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);
/// Of an open file.
std::optional<FileIdentity> identity_of(int descriptor);
/// Two names have the same key exactly when they are of one file, be it there or yet to come.
std::string file_key(const std::filesystem::path& path);

/// Throws UserError when `path` is there and is not a plain file that is `ours`: nothing may be written in its place.
void refuse_foreign(const std::filesystem::path& path, Recognise ours);

/// Locks an open file, for this process or until the descriptor is closed. False when another has it locked; true as
/// well where the file system has no locks.
bool lock_file(int descriptor);

/// Removes a file that is `ours`, or empty; does nothing when there is none. Throws UserError, and removes nothing,
/// when it is anything else.
void remove_own(const std::filesystem::path& file, Recognise ours);
/// The same of what a writer that died has left: throws UserError also when another process is writing it.
void remove_leftover(const std::filesystem::path& file, Recognise ours);

}  // namespace eventloom
