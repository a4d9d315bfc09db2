#pragma once

#include <span>
#include <string>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// Size and CRC32C of the whole file, read once per process unless it has changed since: one file
/// may be opened as many sources. Throws UserError when it is not a regular file or cannot be read.
InputFile describe_file(const std::string& path);

/// Several files that form one source, called `name` in messages: the sum of their sizes, and the CRC32C of the chain
/// of (checksum so far, size, checksum) of each. One file: its own.
InputFile describe_files(const std::string& name, std::span<const std::string> paths);

}  // namespace eventloom
