#pragma once

#include <string>

/// The secret that authorises users to steer a run: 16 to 1024 printable ASCII characters.
namespace eventloom {

/// Returns 128 random bits in hexadecimal.
std::string new_token();

/// Returns the first line of a file, without surrounding blanks. Reads from a pipe for at most 10 s. Warns if everyone
/// may read the file. Throws UserError if the line is not a token.
std::string token_of_file(const std::string& path);

/// Returns `text` without surrounding blanks. Throws UserError, naming its origin `where`, if it is not a token.
std::string checked_token(const std::string& text, const std::string& where);

}  // namespace eventloom
