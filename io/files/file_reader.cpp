#include "io/files/file_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace eventloom {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} << 10;
constexpr std::size_t kAlign = 8;

}  // namespace

FileReader::FileReader(const std::string& path, Followed followed)
    : stream_(path), followed_(std::move(followed)), size_(stream_.file().size()) {
  if (!stream_.is_packed()) return;
  if (followed_ != nullptr) refuse_to_follow(path);
  auto length = length_of_packed(path);
  size_ = length.bytes;
  last_failure_ = std::move(length.failure);
  if (size_ == 0) failure_ = last_failure_;
}

std::span<const std::byte> FileReader::front(std::size_t n) {
  if (end_ - begin_ < n && end_ - begin_ < left()) fill(n);
  return std::span(buffer_).subspan(begin_, end_ - begin_);
}

/// Moves the unread bytes to the start of the buffer, keeping the alignment of their offset, and reads more.
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
  if (stream_.offset() < offset_) stream_.skip(offset_ - stream_.offset());
  end_ += stream_.read(std::span(buffer_).subspan(end_, wanted - unread));
  const bool at_end = end_ - begin_ == left();
  if (end_ - begin_ < wanted) {
    failure_ = stream_.failure().empty() ? "the file became shorter while it was read" : stream_.failure();
    size_ = offset_ + (end_ - begin_);
  } else if (at_end) {
    failure_ = last_failure_;
  }
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

bool FileReader::awaits(std::uint64_t n) {
  if (followed_ == nullptr || !failure_.empty()) return false;
  if (followed_->stopped()) {
    size_ = offset_;
    end_ = begin_;
    return false;
  }
  if (left() >= n) return false;
  const bool is_final = followed_->is_final(path());  // before the size, which is then final
  grow(is_final);
  return left() < n && !is_final && failure_.empty();
}

void FileReader::grow(bool is_final) {
  failure_ = follow_defect(stream_.file(), size_, is_final);
  if (!failure_.empty()) {
    size_ = offset_;
    end_ = begin_;
  } else {
    size_ = stream_.file().size_now().value_or(size_);
  }
}

bool FileReader::has_grown() const {
  return followed_ == nullptr && failure_.empty() && stream_.file().size_now().value_or(0) > stream_.file().size();
}

}  // namespace eventloom
