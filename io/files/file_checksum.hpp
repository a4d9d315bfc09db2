#pragma once

#include <span>
#include <string>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// Size and CRC32C of the whole file. Since one file may be opened as many sources, it is read once per process unless
/// it has changed since. Throws UserError when it is not a regular file or cannot be read.
InputFile describe_file(const std::string& path);

/// Describes several files that form one source called `name`: the sum of their sizes, and a CRC32C chained over
/// (checksum so far, size, checksum) of each file. A single file is described as by describe_file().
InputFile describe_files(const std::string& name, std::span<const std::string> paths);

}  // namespace eventloom
