#include "io/files/table_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/runtime/error.hpp"
#include "formats/quoted_field.hpp"
#include "io/files/line_reader.hpp"

namespace eventloom {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string without_quoted_fields(std::string_view line) {
  std::string text;
  bool quoted = false;
  bool begins = true;  // a field may begin at this character
  for (const char c : line) {
    if (c == '"' && (quoted || begins)) {
      quoted = !quoted;
    } else if (!quoted) {
      text += c;
    }
    begins = is_blank(c) || c == ',' || c == ';' || c == '"';
  }
  return text;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Whether digits alone surround the comma of a number, but for its sign and exponent.
bool is_decimal_comma(std::string_view field, std::size_t comma) {
  auto whole = field.substr(0, comma);
  auto rest = field.substr(comma + 1);
  if (whole.starts_with('-') || whole.starts_with('+')) whole.remove_prefix(1);
  if (const auto exponent = rest.find_first_of("eE"); exponent != std::string_view::npos) {
    auto power = rest.substr(exponent + 1);
    if (power.starts_with('-') || power.starts_with('+')) power.remove_prefix(1);
    if (power.empty() || !std::ranges::all_of(power, is_digit)) return false;
    rest = rest.substr(0, exponent);
  }
  return !(whole.empty() && rest.empty()) && std::ranges::all_of(whole, is_digit) &&
         std::ranges::all_of(rest, is_digit);
}

}  // namespace

std::string_view without_blanks_around(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<std::int64_t> parse_integer(std::string_view text, std::int64_t low, std::int64_t high) {
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) text.remove_prefix(2);
  if (hex && text.starts_with('-')) return std::nullopt;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) return std::nullopt;
  return value;
}

bool is_missing(std::string_view field) {
  if (field.empty()) return true;
  if (field.front() == '-' || field.front() == '+') field.remove_prefix(1);
  return field == "nan" || field == "NaN" || field == "NAN";
}

bool is_missing_number(std::string_view field) {
  constexpr std::array<std::string_view, 7> kWords = {"NA", "N/A", "#N/A", "<NA>", "null", "NULL", "None"};
  return is_missing(field) || std::ranges::find(kWords, field) != kWords.end();
}

std::string_view boolean_as_number(std::string_view text) {
  if (text == "True" || text == "true" || text == "TRUE") return "1";
  if (text == "False" || text == "false" || text == "FALSE") return "0";
  return text;
}

void FieldSplitter::split(const LineReader& lines, std::string_view line, std::size_t limit) {
  if (delimiter_ == '\0') choose(line);
  split_fields(lines, line, limit);
  if (may_have_commas() && line.find(',') != std::string_view::npos) put_points();
}

void FieldSplitter::split_fields(const LineReader& lines, std::string_view line, std::size_t limit) {
  const bool blank_at_end = !line.empty() && is_blank(line.back());
  if (delimiter_ == ' ') line = without_blanks_around(line);
  fields_.clear();
  rewritten_.clear();
  rest_ = {};
  while (fields_.size() < limit) {
    const auto end = take_field(lines, line);
    closed_ = end != std::string_view::npos || (blank_at_end && !fields_.back().empty());
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
    if (delimiter_ == ' ') line = without_blanks_around(line);
  }
  rest_ = line;
}

void FieldSplitter::put_points() {
  for (auto& field : fields_) {
    const auto comma = field.find(',');
    if (comma == std::string_view::npos || !is_decimal_comma(field, comma)) continue;
    auto& number = rewritten_.emplace_back(field);
    number[comma] = '.';
    field = number;
    has_commas_ = true;
  }
}

bool FieldSplitter::had_comma(std::size_t column) const {
  const auto* text = fields_[column - 1].data();
  return std::ranges::any_of(rewritten_, [&](const std::string& number) { return number.data() == text; });
}

std::size_t FieldSplitter::n_behind() const {
  std::string unquoted;
  std::string_view text = rest_;
  if (text.find('"') != std::string_view::npos) text = unquoted = without_quoted_fields(text);
  const std::array<char, 3> empty = {delimiter_, ' ', '\t'};
  const auto last = text.find_last_not_of(std::string_view(empty.data(), empty.size()));
  if (last == std::string_view::npos) return 0;
  text = text.substr(0, last + 1);
  if (delimiter_ != ' ') return 1 + static_cast<std::size_t>(std::ranges::count(text, delimiter_));
  std::size_t n = 1;
  for (std::size_t i = 0; i < last; ++i) n += is_blank(text[i]) && !is_blank(text[i + 1]) ? 1 : 0;
  return n;
}

bool FieldSplitter::split_row(const LineReader& lines, std::string_view line, std::size_t limit) {
  if (!settled_) delimiter_ = '\0';
  if (lines.is_ended()) {
    split(lines, line, limit);
    settled_ = settled_ || fields_.size() >= limit;
    return true;
  }
  try {
    split(lines, line, limit);
  } catch (const BadLine&) {
    return false;  // inside quotes
  }
  return closed_ && fields_.size() >= limit;
}

/// Takes the first field of `line`. Returns the position of the separator after it, or npos.
std::size_t FieldSplitter::take_field(const LineReader& lines, std::string_view line) {
  const auto separator = [&](std::size_t from) {
    return delimiter_ == ' ' ? line.find_first_of(" \t", from) : line.find(delimiter_, from);
  };
  const auto first = line.find_first_not_of(delimiter_ == '\t' ? " " : " \t");
  if (first == std::string_view::npos || line[first] != '"') {
    const auto end = separator(0);
    fields_.push_back(without_blanks_around(line.substr(0, end)));
    return end;
  }
  const auto quoted = line.substr(first);
  const auto close = closing_quote(quoted);
  if (close == std::string_view::npos) throw BadLine(lines.place() + ": a quote is not closed on its line");
  const auto behind = first + close + 1;
  const auto end = separator(behind);
  if (!without_blanks_around(line.substr(behind, end - behind)).empty()) {
    throw BadLine(lines.place() + ": text follows a closed quote; quotes inside a quoted field are written twice");
  }
  const auto inside = quoted.substr(1, close - 1);
  const bool plain = inside.find('"') == std::string_view::npos;
  fields_.push_back(plain ? inside : rewritten_.emplace_back(with_single_quotes(inside)));
  return end;
}

void FieldSplitter::choose(std::string_view line) {
  delimiter_ = ' ';
  const auto text = without_quoted_fields(line);
  for (const char c : {',', ';', '\t'}) {
    if (text.find(c) != std::string::npos) delimiter_ = c;
  }
}

}  // namespace eventloom
