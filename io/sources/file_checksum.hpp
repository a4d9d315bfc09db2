#pragma once

#include <string>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// Size and CRC32C of the whole file, read once per process unless it has changed since: one file
/// may be opened as many sources. Throws UserError when it is not a regular file or cannot be read.
InputFile describe_file(const std::string& path);

}  // namespace eventloom
