#include "io/run_input/open_output.hpp"

#include <stdexcept>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/run_index.hpp"

namespace eventloom {

namespace {

/// A run file that was copied without its parts is a common mistake.
H5Id open_file(const std::filesystem::path& path) {
  if (is_part_name(path.filename().string()) && !std::filesystem::exists(path)) {
    throw UserError("'" + path.string() +
                    "' is missing: keep the parts of a run beside its run file, or send the one file that 'eventloom "
                    "merge' makes of them");
  }
  return open_for_reading(path);
}

}  // namespace

OpenOutput::OpenOutput(const std::filesystem::path& path) : name(path.string()), file(open_file(path)) {}

OpenOutput::OpenOutput(const std::filesystem::path& path, const PartInfo& listed) : OpenOutput(path) {
  check_part(file.get(), path, listed.datasets_sum);
}

bool OpenOutput::has(const ColumnSpec& spec) const { return has_object(file.get(), spec.path); }

ColumnCursor OpenOutput::column(const ColumnSpec& spec, std::size_t buffer) const {
  return {file.get(), name, spec, buffer};
}

ColumnCursor OpenOutput::column_of(const ColumnSpec& spec, std::uint64_t rows, std::size_t buffer) const {
  auto cursor = column(spec, buffer);
  if (cursor.rows() == rows) return cursor;
  throw UserError(fmt::format("'{}' is damaged: {} has {} rows, not {}", name, spec.path, cursor.rows(), rows));
}

std::vector<ColumnCursor> OpenOutput::columns_of(const std::vector<ColumnSpec>& specs, std::uint64_t rows,
                                                 std::size_t buffer) const {
  std::vector<ColumnCursor> columns;
  columns.reserve(specs.size());
  for (const auto& spec : specs) columns.push_back(column_of(spec, rows, buffer));
  return columns;
}

std::string format_of(const OpenOutput& open) {
  std::string format = has_attribute(open.file.get(), "format") ? read_text(open.file.get(), "format") : "";
  if (format != kRunFormat && format != kPartFormat && format != kMergedFormat) {
    refuse_index(open.name);
    throw UserError("'" + open.name + "' is an HDF5 file, but not one that Eventloom wrote");
  }
  const auto version = read_number(open.file.get(), "format_version");
  if (version == kOutputVersion) {
    try {
      check_seal(open.file.get());
    } catch (const std::runtime_error& e) {
      throw UserError("'" + open.name + "': " + e.what());
    }
    return format;
  }
  throw UserError(
      fmt::format("'{}': format version {}, this program reads version {}", open.name, version, kOutputVersion));
}

std::string format_of_run(const OpenOutput& open) {
  auto format = format_of(open);
  if (format == kPartFormat) throw UserError("'" + open.name + "' is one part of a run; give the run.h5 beside it");
  return format;
}

}  // namespace eventloom
