#pragma once

#include <cstdint>
#include <string>

namespace eventloom {

/// All of a text file that people write: a configuration, a table. Throws std::invalid_argument, which says why, when
/// it does not open, is no regular file (a folder, a pipe, a device) or has more than `most` bytes. Does not wait.
std::string read_text_file(const std::string& path, std::uint64_t most);

}  // namespace eventloom
