#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// For each source, a group that opens: the columns that are not read, sorted. These are the datasets beside those that
/// are read, with as many rows, and the other fields of their tables. None where the file would crash HDF5.
std::vector<std::vector<std::string>> unread_hdf5(std::span<const SourceUri> uris);

}  // namespace eventloom
