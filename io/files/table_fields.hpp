#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eventloom {

/// The text without surrounding blanks and tabs.
std::string_view without_blanks_around(std::string_view text);

/// Parses a decimal number, or a hexadecimal one after 0x; std::nullopt when it is neither or not in [low, high].
std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high);

/// Whether a field holds no value: it is empty or NaN, as programs write a number that is missing.
bool is_missing(std::string_view field);

/// Likewise where a number is expected: also the words that R, pandas, spreadsheets and databases write for no value.
bool is_missing_number(std::string_view field);

/// The number that a boolean is, as programs write it: 1 for True or true, 0 for False or false; else the text itself.
std::string_view boolean_as_number(std::string_view text);

class LineReader;

/// Splits lines into fields, which may be quoted (RFC 4180, but without line breaks). The first line determines the
/// separator, among rows the first that has enough fields: an unquoted tab, semicolon or comma, or else runs of blanks.
/// Between tabs and semicolons, a number may have a decimal comma, which becomes a point.
class FieldSplitter {
 public:
  /// Puts the first fields of `line`, the current line of `lines`, into fields(): at most `limit`, and valid as long as
  /// `line`. Throws BadLine for a quote that is not closed, or closed before the end of its field.
  void split(const LineReader& lines, std::string_view line, std::size_t limit);
  /// Like split(), for a row whose first `limit` fields are needed. Returns false when the line has no line end and may
  /// have been cut inside these fields, which would change a number.
  [[nodiscard]] bool split_row(const LineReader& lines, std::string_view line, std::size_t limit);
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }
  /// Number of further fields of the line, without empty ones at the end.
  [[nodiscard]] std::size_t n_behind() const;
  /// Whether runs of blanks separate the fields, so that a missing one does not show.
  [[nodiscard]] bool by_blanks() const { return delimiter_ == ' '; }
  [[nodiscard]] bool by_tabs() const { return delimiter_ == '\t'; }
  [[nodiscard]] bool by_commas() const { return delimiter_ == ','; }
  /// Whether numbers may have decimal commas.
  [[nodiscard]] bool may_have_commas() const { return delimiter_ == ';' || delimiter_ == '\t'; }
  /// Whether the field of this column, from 1, had a decimal comma.
  [[nodiscard]] bool had_comma(std::size_t column) const;
  /// Whether a decimal comma has been read.
  [[nodiscard]] bool has_commas() const { return has_commas_; }

 private:
  void choose(std::string_view line);
  void split_fields(const LineReader& lines, std::string_view line, std::size_t limit);
  std::size_t take_field(const LineReader& lines, std::string_view line);
  void put_points();

  char delimiter_ = '\0';
  bool settled_ = false;  ///< a row has had enough fields with this separator
  bool closed_ = false;   ///< a blank or a separator follows the last field
  bool has_commas_ = false;
  std::vector<std::string_view> fields_;
  std::string_view rest_;              ///< the line behind them
  std::deque<std::string> rewritten_;  ///< fields with inner quotes or decimal commas
};

}  // namespace eventloom
