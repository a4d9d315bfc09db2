#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/files/byte_stream.hpp"

namespace eventloom {

/// Reads a text file, which may be compressed (see Packing), line by line. Its buffer grows with the lines.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = 1U << 20;

  /// Throws UserError when the file cannot be opened.
  explicit LineReader(const std::string& path);

  /// Reads the next line, without its end (LF or CRLF) and the file's byte order mark; returns false at the end of the
  /// file. `line` is valid until the next call. Throws UserError for a line longer than kMaxLineBytes or with a NUL
  /// byte. If reading fails, the file ends there: see failure().
  bool next(std::string_view& line);

  /// Number of the current line, from 1.
  [[nodiscard]] std::uint64_t line_number() const { return line_number_; }
  /// Offset of the current line in the contents, bytes.
  [[nodiscard]] std::uint64_t line_offset() const { return line_offset_; }
  /// Whether a line end follows the current line; without one, it may have been cut anywhere.
  [[nodiscard]] bool is_ended() const { return ended_; }
  /// The fraction of the file that has been read, 0 to 1.
  [[nodiscard]] double share_read() const;
  /// Why the file ended early; empty if it did not.
  [[nodiscard]] const std::string& failure() const { return in_.failure(); }
  /// "path:line" of the current line.
  [[nodiscard]] std::string place() const { return path_ + ":" + std::to_string(line_number_); }

 private:
  bool refill();

  void check_text(std::string_view line) const;

  std::string path_;
  ByteStream in_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< [begin_, end_) of the buffer is unread
  std::size_t end_ = 0;
  std::uint64_t line_number_ = 0;
  std::uint64_t line_offset_ = 0;
  bool ended_ = false;
};

}  // namespace eventloom
