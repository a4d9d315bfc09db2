#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace eventloom {

/// A mistake in a text from the user, for parsers.
class TextMistake : public std::invalid_argument {
 public:
  /// `where`: the wrong part of the text, perhaps empty; it must point into the text.
  TextMistake(std::string_view where, const std::string& what) : std::invalid_argument(what), where_(where) {}
  [[nodiscard]] std::string_view where() const { return where_; }

 private:
  std::string_view where_;
};

/// Calls `parse(part)`, a parser of a part of a text; its std::invalid_argument becomes a mistake at this part.
template <class Parse>
auto parse_part(std::string_view part, Parse parse) {
  try {
    return parse(part);
  } catch (const TextMistake&) {
    throw;
  } catch (const std::invalid_argument& error) {
    throw TextMistake(part, error.what());
  }
}

/// Shortens a long text for use within a line.
std::string shortened(std::string_view text);
/// Two lines: the text, and marks under its part `where`. A long text is cut around it.
std::string marked(std::string_view text, std::string_view where);
/// Likewise, with marks under the first occurrence of `word`.
std::string marked_word(std::string_view text, std::string_view word);

}  // namespace eventloom
