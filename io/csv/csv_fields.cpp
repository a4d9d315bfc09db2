#include "io/csv/csv_fields.hpp"

#include <charconv>

namespace eventloom {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view unquoted(std::string_view text) {
  text = without_blanks_around(text);
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
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

void FieldSplitter::split(std::string_view line, std::size_t limit) {
  if (delimiter_ == '\0') choose(line);
  if (delimiter_ == ' ') line = without_blanks_around(line);
  fields_.clear();
  while (fields_.size() < limit) {
    const auto end = delimiter_ == ' ' ? line.find_first_of(" \t") : line.find(delimiter_);
    fields_.push_back(unquoted(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
    if (delimiter_ == ' ') line = without_blanks_around(line);
  }
}

void FieldSplitter::choose(std::string_view line) {
  delimiter_ = ' ';
  for (const char c : {',', ';', '\t'}) {
    if (line.find(c) != std::string_view::npos) delimiter_ = c;
  }
}

}  // namespace eventloom
