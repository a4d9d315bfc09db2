#include "formats/setting_line.hpp"

#include <algorithm>

namespace eventloom {

namespace {

constexpr std::string_view kBlanks = " \t\r\v\f";

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

bool needs_quotes(std::string_view value) {
  return value != trimmed(value) || value.starts_with('"') || value.find_first_of("#\n") != std::string_view::npos;
}

std::string quoted(std::string_view value) {
  std::string text = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text + '"';
}

/// Position of the closing quote of a text that begins with a quote; npos if there is none.
std::size_t end_of_quotes(std::string_view text) {
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == '"') return i;
    if (text[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

/// The value that stands between quotes.
std::string unquoted(std::string_view inside) {
  std::string value;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    const bool escaped = inside[i] == '\\' && i + 1 < inside.size();
    if (escaped) ++i;
    value += escaped && inside[i] == 'n' ? '\n' : inside[i];
  }
  return value;
}

}  // namespace

std::string setting_line(std::string_view name, std::string_view value) {
  return std::string(name) + " = " + (needs_quotes(value) ? quoted(value) : std::string(value)) + '\n';
}

std::optional<NamedValue> read_setting(std::string_view line) {
  const auto equals = line.find('=');
  const auto name = trimmed(line.substr(0, equals));
  if (equals == std::string_view::npos || name.empty() || name.front() == '#') return std::nullopt;
  const auto value = trimmed(line.substr(equals + 1));
  const bool in_quotes = value.size() > 1 && value.front() == '"' && end_of_quotes(value) == value.size() - 1;
  return NamedValue{std::string(name), in_quotes ? unquoted(value.substr(1, value.size() - 2)) : std::string(value)};
}

std::string_view without_comment(std::string_view line) {
  std::size_t from = 0;
  if (const auto equals = line.find('='); equals < line.find('#')) {
    const auto value = line.find_first_not_of(kBlanks, equals + 1);
    if (value != std::string_view::npos && line[value] == '"') {
      const auto end = end_of_quotes(line.substr(value));
      // Only blanks or a comment may follow a quoted value.
      const auto next = end == std::string_view::npos ? end : line.find_first_not_of(kBlanks, value + end + 1);
      if (end != std::string_view::npos && (next == std::string_view::npos || line[next] == '#'))
        from = value + end + 1;
    }
  }
  return trimmed(line.substr(0, line.find('#', from)));
}

}  // namespace eventloom
