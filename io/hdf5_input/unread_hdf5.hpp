#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Returns the columns that are not read, sorted, for each source: a group that opens. These are the datasets beside
/// the ones that are read, if they have as many rows, and the other fields of their tables. A file that would crash
/// HDF5 yields none.
std::vector<std::vector<std::string>> unread_hdf5(std::span<const SourceUri> uris);

}  // namespace eventloom
