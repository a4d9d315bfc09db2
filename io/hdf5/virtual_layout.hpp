#pragma once

#include <H5Ipublic.h>

#include <filesystem>
#include <string>

namespace eventloom {

/// Rows of a virtual dataset lie in other files. Where one of those does not open, or lacks the dataset, HDF5 reads a
/// fill value and says nothing. Returns "file:dataset" of the first that is not there, looked for where HDF5 looks
/// (HDF5 reference manual, H5Pset_virtual and H5Pset_virtual_prefix); empty: all are. `creation`: creation properties
/// of a dataset of `file`, with a virtual layout. Names with a counter ("%b") are not looked for.
std::string missing_virtual_source(hid_t creation, const std::filesystem::path& file);

}  // namespace eventloom
