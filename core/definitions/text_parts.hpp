#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Shared by the small languages of `--define` and `--filter`. Parts are views into the text.
namespace eventloom {

inline constexpr std::string_view kBlanks = " \t\r\n";

inline std::string in_quotes(std::string_view text) { return "'" + std::string(text) + "'"; }

/// "'x' is not a number", or "expected a number" of an empty text, which no message names.
inline std::string is_not(std::string_view text, const std::string& expected) {
  return text.empty() ? "expected " + expected : in_quotes(text) + " is not " + expected;
}

/// Removes surrounding blanks. A text of blanks becomes the empty view at its end.
std::string_view trimmed(std::string_view text);

/// The parts before and after the first `separator`, trimmed; the second is empty without one.
std::pair<std::string_view, std::string_view> split_once(std::string_view text, char separator);

/// The parts between commas outside brackets (round, square or curly), trimmed; one empty part for an empty text.
std::vector<std::string_view> split_list(std::string_view text);

}  // namespace eventloom
