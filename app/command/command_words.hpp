#pragma once

#include <string>
#include <vector>

namespace eventloom {

/// Splits the value of `option`, a program and its arguments, into words. Blanks separate words, except inside quotes;
/// ' and " are equivalent. A backslash escapes a quote, a blank or a backslash. No other character is special: no shell
/// is involved. Throws UserError.
std::vector<std::string> split_command(const std::string& text, const std::string& option);

/// The path of the program that the value of `option` names. Throws UserError if there is none that can be executed.
std::string required_program(const std::string& name, const std::string& option);

}  // namespace eventloom
