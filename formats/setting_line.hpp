#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Lines "name = value" of INI files, and of the setup that the output keeps.
namespace eventloom {

struct NamedValue {
  std::string name;
  std::string value;
};

/// A line with its line break. A value that would be read differently as it is, such as one with a '#' or a line break,
/// is in quotes, with \\, \" and \n for backslash, quote and line break.
std::string setting_line(std::string_view name, std::string_view value);

/// Reads a line of a setup, without its line break. std::nullopt: it is no setting.
std::optional<NamedValue> read_setting(std::string_view line);

/// The line of an INI file without its comment, which begins at a '#' outside of a quoted value, and without blanks at
/// its ends.
std::string_view without_comment(std::string_view line);

}  // namespace eventloom
