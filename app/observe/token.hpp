#pragma once

#include <string>

/// The secret of those who may steer a run: 16 to 1024 printable characters of ASCII.
namespace eventloom {

/// 128 random bits in hexadecimal.
std::string new_token();

/// The first line of a file, without blanks around it; of a pipe, what comes within 10 s. Warns when everyone may read
/// the file. Throws UserError when it holds no token.
std::string token_of_file(const std::string& path);

/// `text` without blanks around it. Throws UserError, which says `where` it is from, when it is no token.
std::string checked_token(const std::string& text, const std::string& where);

}  // namespace eventloom
