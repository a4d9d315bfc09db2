#include "io/files/file_reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kAlign = 8;

}  // namespace

FileReader::FileReader(std::string path) : path_(std::move(path)) {
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // opening a FIFO would block
  struct stat status {};
  const bool opened = file_ >= 0 && fstat(file_, &status) == 0;
  const std::string reason = opened ? "not a regular file" : std::strerror(errno);
  if (!opened || !S_ISREG(status.st_mode)) {
    if (file_ >= 0) ::close(file_);
    throw UserError("cannot open '" + path_ + "': " + reason);
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
  posix_fadvise(file_, 0, 0, POSIX_FADV_SEQUENTIAL);
}

FileReader::~FileReader() { ::close(file_); }

std::span<const std::byte> FileReader::front(std::size_t n) {
  if (end_ - begin_ < n && end_ - begin_ < left()) fill(n);
  return std::span(buffer_).subspan(begin_, end_ - begin_);
}

/// Moves the unread bytes to the start of the buffer, keeping the alignment of the offset, and reads more.
void FileReader::fill(std::size_t n) {
  const std::size_t unread = end_ - begin_;
  const auto start = static_cast<std::size_t>(offset_ % kAlign);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(n, kBufferBytes), left()));
  if (start + wanted > buffer_.size()) {
    std::vector<std::byte> larger(start + wanted);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), unread,
                larger.begin() + static_cast<std::ptrdiff_t>(start));
    buffer_ = std::move(larger);
  } else {
    std::memmove(buffer_.data() + start, buffer_.data() + begin_, unread);
  }
  begin_ = start;
  end_ = start + unread;
  while (end_ - begin_ < wanted && failure_.empty()) {
    const auto at = static_cast<off_t>(offset_ + (end_ - begin_));
    const ssize_t got = ::pread(file_, buffer_.data() + end_, wanted - (end_ - begin_), at);
    if (got > 0) end_ += static_cast<std::size_t>(got);
    if (got == 0) failure_ = "the file became shorter while it was read";
    if (got < 0 && errno != EINTR) failure_ = std::strerror(errno);
  }
  if (!failure_.empty()) size_ = offset_ + (end_ - begin_);
}

void FileReader::skip(std::uint64_t n) {
  n = std::min(n, left());
  offset_ += n;
  if (n <= end_ - begin_) {
    begin_ += static_cast<std::size_t>(n);
  } else {
    begin_ = end_ = 0;
  }
}

bool FileReader::has_grown() const {
  struct stat status {};
  return failure_.empty() && fstat(file_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) > size_;
}

}  // namespace eventloom
