#include "io/csv/line_reader.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/runtime/error.hpp"

namespace eventloom {

LineReader::LineReader(const std::string& path) : path_(path), in_(path, std::ios::binary), buffer_(kMaxLineBytes + 2) {
  if (!in_) throw UserError("cannot open '" + path + "': " + std::strerror(errno));
}

bool LineReader::next(std::string_view& line) {
  std::size_t searched = begin_;
  for (;;) {
    const auto* const found = static_cast<const char*>(std::memchr(buffer_.data() + searched, '\n', end_ - searched));
    if (found != nullptr) {
      line = {buffer_.data() + begin_, found};
      begin_ += line.size() + 1;
      break;
    }
    const std::size_t unfinished = end_ - begin_;
    if (refill()) {
      searched = unfinished;
      continue;
    }
    if (begin_ == end_) return false;
    line = {buffer_.data() + begin_, end_ - begin_};  // the last line need not end in LF
    begin_ = end_;
    break;
  }
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (++line_number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
  if (line.find('\0') != std::string_view::npos) {
    throw UserError("'" + path_ + "' line " + std::to_string(line_number_) +
                    " holds a NUL byte: not text in UTF-8 (UTF-16? save it as UTF-8)");
  }
  if (line.ends_with('\r')) line.remove_suffix(1);
  return true;
}

/// Moves the unread bytes to the front and reads more; false at the end of the file.
bool LineReader::refill() {
  std::copy(buffer_.begin() + static_cast<std::ptrdiff_t>(begin_), buffer_.begin() + static_cast<std::ptrdiff_t>(end_),
            buffer_.begin());
  end_ -= begin_;
  begin_ = 0;
  if (end_ == buffer_.size()) {
    throw UserError("'" + path_ + "' line " + std::to_string(line_number_ + 1) + " is longer than " +
                    std::to_string(kMaxLineBytes) + " bytes: not a table of numbers");
  }
  in_.read(buffer_.data() + end_, static_cast<std::streamsize>(buffer_.size() - end_));
  const auto n = static_cast<std::size_t>(in_.gcount());
  if (in_.bad()) throw UserError("cannot read '" + path_ + "': " + std::strerror(errno));
  end_ += n;
  taken_ += n;
  return n > 0;
}

}  // namespace eventloom
