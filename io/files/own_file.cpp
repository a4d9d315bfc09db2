#include "io/files/own_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "core/runtime/error.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/folder.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const fs::path& path, const std::string& why) {
  throw UserError("'" + path.string() + "' " + why);
}

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

/// Status of the path itself, without following links. std::nullopt when it does not exist or cannot be examined;
/// opening it reports why.
std::optional<struct stat> look_at(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return std::nullopt;
  return status;
}

void refuse_special(const fs::path& path, mode_t mode) {
  if (!S_ISREG(mode) && !leads_to_moved(path))
    refuse(path, std::string("is ") + kind_of(mode) + ", not a file to write; choose another name");
}

[[noreturn]] void refuse_unknown(const fs::path& path) {
  refuse(path, "exists and is not a file that Eventloom may replace; choose another name, or move it away");
}

}  // namespace

bool is_nobodys(const fs::path&) { return false; }

std::string head_of(const fs::path& file, std::size_t most) {
  const Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::string head(most, '\0');
  std::size_t done = 0;
  while (open.is_open() && done < most) {
    const ssize_t n = ::read(open.number(), head.data() + done, most - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  head.resize(done);
  return head;
}

bool is_json_of(const fs::path& file, std::string_view format) {
  constexpr std::size_t kEnough = 128;
  auto head = head_of(file, kEnough);
  std::erase_if(head, [](unsigned char c) { return std::isspace(c) != 0; });
  return head.starts_with("{\"format\":\"" + std::string(format) + "\"");
}

std::optional<FileIdentity> identity_of(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

std::optional<FileIdentity> identity_of(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

std::string file_key(const fs::path& path) {
  const auto text = [](const FileIdentity& id) { return std::to_string(id.device) + ":" + std::to_string(id.inode); };
  if (const auto itself = identity_of(path)) return text(*itself);
  const auto folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  if (const auto parent = identity_of(folder)) return text(*parent) + "/" + path.filename().string();
  std::error_code error;
  const auto whole = fs::weakly_canonical(path, error);
  return error ? path.string() : whole.string();
}

void refuse_foreign(const fs::path& path, Recognise ours) {
  const auto status = look_at(path);
  if (!status) return;
  refuse_special(path, status->st_mode);
  if (!ours(path)) refuse_unknown(path);
}

// Not flock(), which HDF5 readers use: they would briefly find a file locked that has just been renamed.
bool lock_file(int descriptor) {
  struct flock whole {};
  whole.l_type = F_WRLCK;
  return ::fcntl(descriptor, F_OFD_SETLK, &whole) == 0 || (errno != EAGAIN && errno != EACCES);
}

void remove_own(const fs::path& file, Recognise ours) {
  const auto status = look_at(file);
  if (!status) return;
  refuse_special(file, status->st_mode);
  if (S_ISLNK(status->st_mode)) {
    remove_own(fs::read_symlink(file), ours);
  } else if (status->st_size != 0 && !ours(file)) {
    refuse_unknown(file);
  }
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
    throw UserError("cannot remove '" + file.string() + "': " + std::strerror(errno));
  }
}

void remove_leftover(const fs::path& file, Recognise ours) {
  const auto status = look_at(file);
  if (!status) return;
  refuse_special(file, status->st_mode);
  if (S_ISLNK(status->st_mode)) return remove_own(file, ours);
  const Descriptor open(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!open.is_open() && errno == ENOENT) return;
  if (!open.is_open()) throw UserError("cannot open '" + file.string() + "': " + std::strerror(errno));
  if (!lock_file(open.number())) refuse(file, "is being written by another process; wait until that has ended");
  // The writer may have renamed the file meanwhile, and another process may have reused the name.
  if (identity_of(open.number()) == identity_of(file)) remove_own(file, ours);
}

}  // namespace eventloom
