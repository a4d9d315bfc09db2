#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/hdf5/column_cursor.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

/// An output file that is open for reading. All functions throw a UserError that names it if it is damaged. A column
/// keeps a reference to `spec`.
struct OpenOutput {
  explicit OpenOutput(const std::filesystem::path& path);
  /// Opens a part. Throws UserError unless it is the one that its run lists.
  OpenOutput(const std::filesystem::path& path, const PartInfo& listed);

  [[nodiscard]] bool has(const ColumnSpec& spec) const;
  [[nodiscard]] std::uint64_t rows(const ColumnSpec& spec) const { return column(spec).rows(); }
  [[nodiscard]] ColumnCursor column(const ColumnSpec& spec, std::size_t buffer = kColumnBuffer) const;
  /// Open columns; throw UserError unless they have `rows` rows.
  [[nodiscard]] ColumnCursor column_of(const ColumnSpec& spec, std::uint64_t rows,
                                       std::size_t buffer = kColumnBuffer) const;
  [[nodiscard]] std::vector<ColumnCursor> columns_of(const std::vector<ColumnSpec>& specs, std::uint64_t rows,
                                                     std::size_t buffer = kColumnBuffer) const;

  std::string name;
  H5Id file;
};

/// Returns kRunFormat, kPartFormat or kMergedFormat. Throws UserError when the file is not from Eventloom, or has
/// another version of the format.
std::string format_of(const OpenOutput& open);
/// Likewise. Throws UserError for a part.
std::string format_of_run(const OpenOutput& open);

}  // namespace eventloom
