#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

/// Reads a text file line by line through one buffer of fixed size.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = 1U << 20;

  /// Throws UserError when the file cannot be opened.
  explicit LineReader(const std::string& path);

  /// The next line, without its end (LF or CRLF) and the byte order mark of the file; false at the end of the file.
  /// Valid until the next call. Throws UserError for a line of more than kMaxLineBytes or with a NUL byte,
  /// or when reading fails.
  bool next(std::string_view& line);

  /// Number of the current line, from 1.
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }
  /// Bytes of the file up to its end.
  [[nodiscard]] std::uint64_t bytes_read() const { return taken_ - (end_ - begin_); }
  /// "path:line" of the current line.
  [[nodiscard]] std::string place() const { return path_ + ":" + std::to_string(line_number_); }

 private:
  bool refill();

  std::string path_;
  std::ifstream in_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< [begin_, end_) of the buffer is unread
  std::size_t end_ = 0;
  std::uint64_t taken_ = 0;  ///< bytes put into the buffer
  std::uint64_t line_number_ = 0;
};

}  // namespace eventloom
