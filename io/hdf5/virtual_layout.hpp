#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Creates a virtual dataset of the first `rows` rows of `source`, a column of 64-bit numbers of the same file that has
/// `source_rows`.
H5Id create_view(hid_t file, const char* path, const std::string& source, std::uint64_t rows,
                 std::uint64_t source_rows);

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
