#include "app/command/file_plan.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "core/runtime/error.hpp"
#include "io/files/folder.hpp"
#include "io/files/partial_file.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

bool is_empty_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(fs::symlink_status(path, error)) && fs::file_size(path, error) == 0;
}

void refuse_existing(const fs::path& path, const std::string& role) {
  throw UserError(role + ": '" + path.string() + "' exists; use --force to replace it, or choose another name");
}

/// Refuses a folder that cannot be created.
void require_place_for(const fs::path& folder, const std::string& role) {
  auto above = fs::absolute(folder).lexically_normal();
  while (!is_there(above) && above.has_relative_path()) above = above.parent_path();
  std::error_code error;
  const bool is_folder = fs::is_directory(above, error);
  if (is_folder && ::access(above.c_str(), W_OK | X_OK) == 0) return;
  throw UserError(role + ": cannot create the folder '" + folder.string() +
                  "': " + std::strerror(is_folder ? errno : ENOTDIR));
}

}  // namespace

void FilePlan::read(const fs::path& file, const std::string& role) { reads_.push_back({file_key(file), file, role}); }

void FilePlan::write(const fs::path& file, const std::string& role, Recognise ours, Existing existing, bool try_out) {
  writes_.push_back({file_key(file), file_key(file.string() + kPartial), file, role, ours, existing, try_out});
}

void FilePlan::write_in(const fs::path& folder, const std::string& role,
                        std::function<bool(const std::string& name)> names, Recognise ours, Existing existing) {
  const auto place = folder.empty() ? fs::path(".") : folder;
  families_.push_back({place, file_key(place), role, std::move(names), ours, existing});
}

void FilePlan::check() const {
  for (const auto& write : writes_) {
    refuse_what_is_read(write.key, write.path, write.role);
    refuse_what_is_read(write.partial_key, write.path.string() + kPartial, write.role);
    for (const auto& other : writes_) {
      if (&other == &write) break;
      check_pair(write, other);
    }
    for (const auto& family : families_) check_member(write, family);
  }
  for (const auto& write : writes_) check_one(write);
  for (const auto& family : families_) check_family(family);
  for (const auto& write : writes_) {
    if (write.try_out) const PartialFile trial(write.path, write.ours);
  }
}

void FilePlan::refuse_what_is_read(const std::string& key, const fs::path& path, const std::string& role) const {
  for (const auto& read : reads_) {
    if (read.key != key) continue;
    throw UserError(role + ": '" + path.string() + "' is read as " + read.role + " '" + read.path.string() +
                    "'; choose another name");
  }
}

void FilePlan::check_pair(const Write& a, const Write& b) const {
  if (a.key != b.key && a.key != b.partial_key && a.partial_key != b.key) return;
  throw UserError(a.role + ": '" + a.path.string() + "' is what " + b.role + " '" + b.path.string() +
                  "' writes, too; choose another name for one of them");
}

/// A file has a partial name while it is being written.
void FilePlan::check_member(const Write& write, const Family& family) const {
  const auto name = write.path.filename().string();
  const auto folder = write.path.has_parent_path() ? write.path.parent_path() : fs::path(".");
  if (write.role == family.role || file_key(folder) != family.folder_key) return;
  if (!family.names(name) && !family.names(name + kPartial)) return;
  throw UserError(write.role + ": '" + write.path.string() + "' has a name reserved for " + family.role + " in '" +
                  family.folder.string() + "'; choose another name");
}

void FilePlan::check_family(const Family& family) const {
  std::error_code error;
  if (is_there(family.folder) && !fs::is_directory(family.folder, error)) {
    throw UserError(family.role + ": '" + family.folder.string() + "' is not a folder; choose another name");
  }
  if (!is_there(family.folder)) return require_place_for(family.folder, family.role);
  for (const auto& path : entries_in(family.folder)) {
    if (!family.names(path.filename().string())) continue;
    refuse_what_is_read(file_key(path), path, family.role);
    // An unfinished file may be replaced. It cannot be recognised before its beginning has been written.
    if (path.extension() == kPartial && is_empty_file(path)) continue;
    refuse_foreign(path, family.ours);
    if (family.existing == Existing::keep && path.extension() != kPartial) refuse_existing(path, family.role);
  }
}

void FilePlan::check_one(const Write& write) const {
  refuse_foreign(write.path, write.ours);
  if (write.existing != Existing::replace && is_there(write.path)) refuse_existing(write.path, write.role);
  const fs::path partial = write.path.string() + kPartial;
  if (write.existing == Existing::keep_unfinished && is_there(partial)) refuse_existing(partial, write.role);
}

bool is_stream_of_process(const std::string& path) {
  return path == "/dev/stdout" || path == "/dev/stderr" || path == "/dev/null";
}

}  // namespace eventloom
