#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace eventloom {

/// The first 4 KiB of a file, or all of it if it is shorter; unpacked if the file is compressed. Empty when the file
/// cannot be read; opening it reports why.
std::vector<std::byte> file_head(const std::string& path);

}  // namespace eventloom
