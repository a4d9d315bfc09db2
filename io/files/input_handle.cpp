#include "io/files/input_handle.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <list>
#include <mutex>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

int open_file(const std::string& path) {
  return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // O_NONBLOCK: opening a FIFO would block
}

}  // namespace

/// The handles of this process that have a descriptor, most recently used first.
class OpenInputs {
 public:
  /// Held while a descriptor is in use, so that no other thread closes it.
  static std::mutex& mutex() {
    static std::mutex lock;
    return lock;
  }
  /// Moves `handle`, which has a descriptor, to the front. Closes the least recently used one if there are too many.
  static void use(InputHandle& handle) {
    auto& open = list();
    if (!open.empty() && open.front() == &handle) return;
    open.remove(&handle);
    open.push_front(&handle);
    if (open.size() > InputHandle::kMostOpen) {
      open.back()->close();
      open.pop_back();
    }
  }
  static void forget(InputHandle& handle) {
    list().remove(&handle);
    handle.close();
  }

 private:
  static std::list<InputHandle*>& list() {
    static std::list<InputHandle*> open;
    return open;
  }
};

InputHandle::InputHandle(std::string path) : path_(std::move(path)) {
  const std::lock_guard lock(OpenInputs::mutex());
  descriptor_ = open_file(path_);
  struct stat status {};
  const bool opened = descriptor_ >= 0 && fstat(descriptor_, &status) == 0;
  const std::string reason = opened ? "not a regular file" : std::strerror(errno);
  if (!opened || !S_ISREG(status.st_mode)) {
    close();
    throw UserError("cannot open '" + path_ + "': " + reason);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  identity_ = {.device = status.st_dev, .inode = status.st_ino};
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  OpenInputs::use(*this);
}

InputHandle::~InputHandle() {
  const std::lock_guard lock(OpenInputs::mutex());
  OpenInputs::forget(*this);
}

void InputHandle::close() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

bool InputHandle::reopen() {
  descriptor_ = open_file(path_);
  if (descriptor_ < 0) {
    failure_ = std::strerror(errno);
    return false;
  }
  if (identity_of(descriptor_) != identity_) {
    close();
    failure_ = "the file was replaced while it was read";
    return false;
  }
  posix_fadvise(descriptor_, 0, 0, POSIX_FADV_SEQUENTIAL);
  return true;
}

std::optional<std::uint64_t> InputHandle::size_now() const {
  const std::lock_guard lock(OpenInputs::mutex());
  struct stat status {};
  const int result = descriptor_ >= 0 ? fstat(descriptor_, &status) : ::stat(path_.c_str(), &status);
  if (result != 0) return std::nullopt;
  return static_cast<std::uint64_t>(status.st_size);
}

InputHandle::Place InputHandle::place() const {
  const auto found = identity_of(std::filesystem::path(path_));
  if (!found) return Place::removed;
  return *found == identity_ ? Place::same : Place::replaced;
}

std::size_t InputHandle::read_at(std::uint64_t offset, std::span<std::byte> out) {
  const std::lock_guard lock(OpenInputs::mutex());
  failure_.clear();
  if (descriptor_ < 0 && !reopen()) return 0;
  OpenInputs::use(*this);
  std::size_t done = 0;
  while (done < out.size()) {
    const ssize_t got = ::pread(descriptor_, out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got > 0) done += static_cast<std::size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) failure_ = std::strerror(errno);
    if (got <= 0) break;
  }
  return done;
}

}  // namespace eventloom
