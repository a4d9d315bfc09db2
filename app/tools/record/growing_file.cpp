#include "app/tools/record/growing_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "formats/epoch_buffer.hpp"

namespace eventloom {

GrowingFile::GrowingFile(std::filesystem::path path, const StreamHeader& header)
    : path_(std::move(path)), layout_(header) {
  layout_.begin(pending_);
}

int GrowingFile::write() {
  if (!descriptor_.is_open()) {
    constexpr int kNew = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC | O_APPEND;
    descriptor_ = Descriptor(::open(path_.c_str(), kNew, 0666));
    if (!descriptor_.is_open()) return errno;
  }
  while (done_ < pending_.size()) {
    const ssize_t n = ::write(descriptor_.number(), pending_.data() + done_, pending_.size() - done_);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : ENOSPC;
    done_ += static_cast<std::size_t>(n);
  }
  pending_.clear();
  done_ = 0;
  return 0;
}

int GrowingFile::sync() const { return ::fsync(descriptor_.number()) == 0 ? 0 : errno; }

std::uint64_t GrowingFile::give_up() {
  const std::uint64_t begin = layout_.bytes() - pending_.size();
  const bool headless = begin == 0;  // the header of the file is pending, too
  std::span<const std::byte> rest(pending_);
  if (headless) rest = rest.subspan(decode_stream_header(rest).first_buffer_offset);
  std::uint64_t lost = 0;
  std::size_t whole = headless && done_ < pending_.size() - rest.size() ? 0 : pending_.size() - rest.size();
  while (const auto header = read_epoch_buffer_header(rest)) {
    rest = rest.subspan(header->stored_bytes());
    if (pending_.size() - rest.size() <= done_) {
      whole = pending_.size() - rest.size();
    } else if (header->n_words != 0) {
      lost += header->n_hits;
    }
  }
  if (!descriptor_.is_open()) return lost;
  const auto end = static_cast<off_t>(begin + whole);
  // A file without its header is not a stream file. A torn end that cannot be cut does no harm to readers.
  [[maybe_unused]] const int failed = end == 0 ? ::unlink(path_.c_str()) : ::ftruncate(descriptor_.number(), end);
  return lost;
}

}  // namespace eventloom
