#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace eventloom {

/// The first bytes of the contents of a file, unpacked where it is compressed: 4 KiB, or all when there are fewer.
/// Empty when it cannot be read: opening it reports why.
std::vector<std::byte> file_head(const std::string& path);

}  // namespace eventloom
