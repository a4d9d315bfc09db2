#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/handle.hpp"
#include "io/hdf5/input_file.hpp"

namespace eventloom {

/// An output file that is open for reading. The constructor throws UserError when it cannot be opened.
struct OpenOutput {
  explicit OpenOutput(const std::filesystem::path& path) : name(path.string()), file(open_for_reading(path)) {}

  [[nodiscard]] ColumnCursor column(const ColumnSpec& spec, std::size_t buffer = kColumnBuffer) const {
    return {file.get(), name, spec, buffer};
  }

  std::string name;
  H5Id file;
};

/// Returns kRunFormat, kPartFormat or kMergedFormat. Throws UserError when the file is not from Eventloom, or has
/// another version of the format.
std::string format_of(const OpenOutput& open);

}  // namespace eventloom
