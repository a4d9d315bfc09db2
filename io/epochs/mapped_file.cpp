#include "io/epochs/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

[[noreturn]] void fail(const std::string& path) {
  throw UserError("cannot open '" + path + "': " + std::strerror(errno));
}

}  // namespace

MappedFile::MappedFile(const std::string& path) {
  // O_NONBLOCK: opening a FIFO must not block.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) fail(path);
  struct stat status {};
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode)) {
    ::close(file);
    throw UserError("cannot open '" + path + "': not a regular file");
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  void* map = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  if (map == MAP_FAILED) fail(path);
  bytes_ = {static_cast<const std::byte*>(map), size};
  if (size == 0) return;
  madvise(map, size, MADV_SEQUENTIAL);
  // Under `run --realtime` (mlockall) every page that was read would stay in memory.
  munlock(map, size);
  guard_.emplace(bytes_);
}

MappedFile::~MappedFile() {
  guard_.reset();
  if (!bytes_.empty()) munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

void MappedFile::release_all() {
  if (!bytes_.empty()) madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

}  // namespace eventloom
