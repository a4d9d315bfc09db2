#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/runtime/error.hpp"
#include "io/files/byte_stream.hpp"
#include "io/files/followed_files.hpp"

namespace eventloom {

/// A line of a table that is not a row. The message names file and line; reading may continue with the next line.
class BadLine : public UserError {
 public:
  using UserError::UserError;
};

/// Reads a text file, which may be compressed (see Packing), line by line. Its buffer grows with the lines.
class LineReader {
 public:
  static constexpr std::size_t kMaxLineBytes = 1U << 20;

  /// Throws UserError when the file cannot be opened.
  /// `followed`: the files that this one belongs to, null if it is not followed; a compressed file is then refused.
  explicit LineReader(const std::string& path, Followed followed = nullptr);
  /// Whether the next line is incomplete but may be completed, since the file is followed. After FollowedFiles::stop()
  /// the file ends here.
  [[nodiscard]] bool awaits_line();

  /// Reads the next line, without its end (LF or CRLF) and the file's byte order mark; returns false at the end of the
  /// file. `line` is valid until the next call. Throws UserError for a line longer than kMaxLineBytes, and
  /// BadLine for one with a NUL byte. If reading fails, the file ends there: see failure().
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
  [[nodiscard]] const std::string& failure() const { return failure_.empty() ? in_.failure() : failure_; }
  /// "path:line" of the current line.
  [[nodiscard]] std::string place() const { return path_ + ":" + std::to_string(line_number_); }

 private:
  [[nodiscard]] bool has_line() const;
  bool refill();

  void check_text(std::string_view line) const;

  std::string path_;
  ByteStream in_;
  Followed followed_;
  std::string failure_;  ///< why the file can no longer be followed
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< [begin_, end_) of the buffer is unread
  std::size_t end_ = 0;
  std::uint64_t line_number_ = 0;
  std::uint64_t line_offset_ = 0;
  bool ended_ = false;
  bool ends_here_ = false;  ///< the rest of the file is not read
};

}  // namespace eventloom
