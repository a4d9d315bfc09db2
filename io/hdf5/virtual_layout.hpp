#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace eventloom {

/// Creates a virtual dataset that shows the first `rows` rows of `source`, a column of 64-bit numbers with
/// `source_rows` rows in the same file.
H5Id create_view(hid_t file, const char* path, const std::string& source, std::uint64_t rows,
                 std::uint64_t source_rows);

/// Rows of a virtual dataset, and the dataset that holds them.
struct VirtualMapping {
  std::string file;  ///< "." for the same one
  std::string dataset;
  H5Id rows;         ///< selection in the virtual dataset
  H5Id source_rows;  ///< selection in the other one

  /// "%b" in a name stands for the number of a block.
  [[nodiscard]] bool has_counter() const {
    return file.find('%') != std::string::npos || dataset.find('%') != std::string::npos;
  }
};

/// `creation` holds the creation properties of a virtual dataset.
std::vector<VirtualMapping> virtual_mappings(hid_t creation);

/// The file that holds a source of a virtual dataset of `file`; empty when there is none.
std::filesystem::path virtual_source(const std::string& name, const std::string& dataset,
                                     const std::filesystem::path& file);

/// The rows of a virtual dataset are in other files; when such a file does not open or lacks the dataset, HDF5 silently
/// reads a fill value. Returns "file:dataset" of the first that is missing; empty when none is. Searches where HDF5
/// does (HDF5 reference manual, H5Pset_virtual and H5Pset_virtual_prefix). `creation` holds the creation properties of
/// a virtual dataset of `file`. Names with a counter ("%b") are not checked.
std::string missing_virtual_source(hid_t creation, const std::filesystem::path& file);

/// Number of bytes that the external files hold for a dataset of `file`, at the places where HDF5 searches; HDF5 reads
/// zeros beyond them.
std::uint64_t external_bytes(hid_t creation, const std::filesystem::path& file);

}  // namespace eventloom
