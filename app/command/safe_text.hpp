#pragma once

#include <string>
#include <string_view>

/// Makes external text, such as names of sources, safe to display.
namespace eventloom {

/// Escapes, as "\x1b" and the like, bytes that are not valid UTF-8 and characters that control a terminal or the
/// direction of text.
std::string for_terminal(std::string_view text);

/// Applies for_terminal() to each line of a text.
std::string lines_for_terminal(std::string_view text);

/// Escapes text for the contents or an attribute of an XML element.
std::string for_xml(std::string_view text);

/// Returns the number of columns of for_terminal() text, one per character.
std::size_t columns_of(std::string_view text);

/// Shortens for_terminal() text to at most `most` columns (at least 3). Keeps the end, the most
/// informative part of a path.
std::string end_of(std::string_view text, std::size_t most);

/// Like end_of(), but keeps the beginning.
std::string beginning_of(std::string_view text, std::size_t most);

}  // namespace eventloom
