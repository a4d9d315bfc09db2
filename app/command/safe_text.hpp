#pragma once

#include <string>
#include <string_view>

/// Text of others, such as names of sources, which must not act where it is shown.
namespace eventloom {

/// For a terminal: bytes that are not UTF-8, and characters that control the terminal or the direction of text, become
/// "\x1b" and the like.
std::string for_terminal(std::string_view text);

/// The same of each line of a text.
std::string lines_for_terminal(std::string_view text);

/// For the contents or an attribute of an XML element.
std::string for_xml(std::string_view text);

/// Columns that for_terminal() text takes, a character each.
std::size_t columns_of(std::string_view text);

/// for_terminal() text, of which at most `most` columns (at least 3) are left: its end, which of a path says most.
std::string end_of(std::string_view text, std::size_t most);

/// Likewise its beginning.
std::string beginning_of(std::string_view text, std::size_t most);

}  // namespace eventloom
