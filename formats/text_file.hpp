#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// The contents of a text file written by users, such as a configuration or a table. Throws std::invalid_argument with
/// the reason when the file cannot be opened, is not a regular file (a folder, a pipe, a device) or has more than
/// `most` bytes. Does not block.
std::string read_text_file(const std::string& path, std::uint64_t most);

}  // namespace eventloom
