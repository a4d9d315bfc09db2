#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

/// Without the blanks and tabs around it.
std::string_view without_blanks_around(std::string_view text);

/// A decimal number, or a hexadecimal one behind 0x; nothing when it is neither or not in [low, high].
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);

class LineReader;

/// Splits lines into fields, which may be quoted (RFC 4180, but no line breaks). The first line determines the
/// separator: a tab, a semicolon, a comma, or else runs of blanks, wherever it is not quoted.
class FieldSplitter {
 public:
  /// Puts the first fields of `line`, the current one of `lines`, at most `limit`, into fields(), which are valid as
  /// long as it is. Throws UserError for a quote that is not closed, or closed before the end of its field.
  void split(const LineReader& lines, std::string_view line, std::size_t limit);
  /// The same for a row, of which the first `limit` fields are needed. False when it is the last line, without a line
  /// end, and may have been cut inside these: a number would be another one.
  [[nodiscard]] bool split_row(const LineReader& lines, std::string_view line, std::size_t limit);
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  void choose(std::string_view line);
  std::size_t take_field(const LineReader& lines, std::string_view line);

  char delimiter_ = '\0';
  bool closed_ = false;  ///< a blank or a separator follows the last field
  std::vector<std::string_view> fields_;
  std::deque<std::string> rewritten_;  ///< fields with quotes inside
};

}  // namespace eventloom
