#pragma once

#include <H5Ipublic.h>

#include <cstdint>
#include <filesystem>
#include <string>

namespace eventloom {

/// Rows of a virtual dataset lie in other files. Where one of those does not open, or lacks the dataset, HDF5 reads a
/// fill value and says nothing. Returns "file:dataset" of the first that is not there, looked for where HDF5 looks
/// (HDF5 reference manual, H5Pset_virtual and H5Pset_virtual_prefix); empty: all are. `creation`: creation properties
/// of a dataset of `file`, with a virtual layout. Names with a counter ("%b") are not looked for.
std::string missing_virtual_source(hid_t creation, const std::filesystem::path& file);

/// Rows of a virtual dataset that lie anywhere; the others read as a fill value. The greatest number where a mapping
/// has no end.
std::uint64_t mapped_rows(hid_t creation);

/// Bytes that the external files of a dataset of `file` have for it, where HDF5 looks for them; behind those it reads
/// zeros.
std::uint64_t external_bytes(hid_t creation, const std::filesystem::path& file);

}  // namespace eventloom
