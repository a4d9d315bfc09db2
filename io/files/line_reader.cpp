#include "io/files/line_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/runtime/error.hpp"

namespace eventloom {

namespace {

constexpr std::uint64_t kLeast = 256;  // smallest initial buffer, bytes
constexpr std::uint64_t kMost = 64U << 10;

}  // namespace

/// A small file takes a small buffer, as there may be thousands of files.
LineReader::LineReader(const std::string& path, Followed followed)
    : path_(path),
      in_(path),
      followed_(std::move(followed)),
      buffer_(in_.is_packed() ? kMost : std::clamp(in_.file().size(), kLeast, kMost)) {
  if (followed_ != nullptr && in_.is_packed()) refuse_to_follow(path);
}

bool LineReader::has_line() const { return std::memchr(buffer_.data() + begin_, '\n', end_ - begin_) != nullptr; }

bool LineReader::awaits_line() {
  if (followed_ == nullptr || !failure_.empty()) return false;
  if (!followed_->stopped() && has_line()) return false;
  const bool is_final = followed_->is_final(path_);  // before the rest is read
  if (!followed_->stopped()) failure_ = follow_defect(in_.file(), in_.offset(), is_final);
  if (followed_->stopped() || !failure_.empty()) {
    ends_here_ = true;
    end_ = begin_;
    return false;
  }
  while (refill()) {
    if (has_line()) return false;
  }
  return !is_final;
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = begin_;
  const char* found = nullptr;
  while (!ends_here_) {
    found = static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
    if (found != nullptr) break;
    const std::size_t unfinished = end_ - begin_;
    if (!refill()) break;
    searched = unfinished;
  }
  if (found == nullptr && begin_ == end_) return false;
  ended_ = found != nullptr;
  line = {buffer_.data() + begin_, ended_ ? static_cast<std::size_t>(found - buffer_.data()) - begin_ : end_ - begin_};
  line_offset_ = in_.offset() - (end_ - begin_);
  begin_ += line.size() + (ended_ ? 1 : 0);
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (++line_number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  check_text(line);
  if (!line.ends_with('\r')) return true;
  line.remove_suffix(1);
  ended_ = true;  // even if the LF is missing
  return true;
}

void LineReader::check_text(std::string_view line) const {
  if (line.find('\0') == std::string_view::npos) return;
  throw BadLine("'" + path_ + "' line " + std::to_string(line_number_) +
                " holds a NUL byte: not text in UTF-8 (UTF-16? save it as UTF-8)");
}

double LineReader::share_read() const {
  if (in_.is_packed()) return in_.share_read();
  const auto bytes = in_.file().size();
  const auto read = std::min(in_.offset() - (end_ - begin_), bytes);
  return bytes == 0 ? 1 : static_cast<double>(read) / static_cast<double>(bytes);
}

/// Moves the unread bytes to the front and reads more; returns false at the end of the file.
bool LineReader::refill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ > kMaxLineBytes + 1) {
    throw UserError("'" + path_ + "' line " + std::to_string(line_number_ + 1) + " is longer than " +
                    std::to_string(kMaxLineBytes) + " bytes: not a table of numbers");
  }
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const auto n = in_.read(std::as_writable_bytes(std::span(buffer_)).subspan(end_));
  end_ += n;
  return n > 0;
}

}  // namespace eventloom
