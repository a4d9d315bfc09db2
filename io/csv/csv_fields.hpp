#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace eventloom {

/// Without the blanks and tabs around it.
std::string_view without_blanks_around(std::string_view text);

/// A decimal number, or a hexadecimal one behind 0x; nothing when it is neither or not in [low, high].
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);

/// Splits lines into fields, which may be quoted, but hold no separators. The first line determines the separator: a
/// tab, a semicolon, a comma, or else runs of blanks.
class FieldSplitter {
 public:
  /// Puts the first fields of `line`, at most `limit`, into fields().
  void split(std::string_view line, std::size_t limit);
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }

 private:
  void choose(std::string_view line);

  char delimiter_ = '\0';
  std::vector<std::string_view> fields_;
};

}  // namespace eventloom
