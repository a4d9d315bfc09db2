#pragma once

#include <H5Ipublic.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace eventloom {

/// Rows of a virtual dataset are in other files. Where one of those does not open, or lacks the dataset, HDF5 silently
/// reads a fill value. Returns "file:dataset" of the first that is missing, searched for where HDF5 searches (HDF5
/// reference manual, H5Pset_virtual and H5Pset_virtual_prefix); empty: none is missing. `creation`: creation properties
/// of a dataset of `file`, with a virtual layout. Names with a counter ("%b") are not checked.
std::string missing_virtual_source(hid_t creation, const std::filesystem::path& file);

/// Rows of a virtual dataset that are stored anywhere; the others read as a fill value. The greatest number where a
/// mapping is unlimited.
std::uint64_t mapped_rows(hid_t creation);

/// Bytes that the external files hold for a dataset of `file`, where HDF5 searches for them; beyond those it reads
/// zeros.
std::uint64_t external_bytes(hid_t creation, const std::filesystem::path& file);

}  // namespace eventloom
