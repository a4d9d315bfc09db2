#include "io/run_input/run_file.hpp"

#include <stdexcept>
#include <utility>

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"
#include "io/run_format/event_file_table.hpp"
#include "io/run_format/part_table.hpp"
#include "io/run_format/record_table.hpp"
#include "io/run_format/run_index.hpp"
#include "io/run_input/open_output.hpp"

namespace eventloom {

namespace {

void expect_run_file(hid_t root) {
  if (!has_attribute(root, "format") || read_text(root, "format") != kRunFormat) {
    throw UserError("not the run file of an Eventloom run (the run.h5 that 'eventloom run' writes)");
  }
  const auto version = read_number(root, "format_version");
  if (version != kOutputVersion) {
    throw UserError(fmt::format("format version {}, this program reads version {}", version, kOutputVersion));
  }
}

}  // namespace

RunFile read_run_file(const std::filesystem::path& path) {
  refuse_index(path);
  const H5Id file = open_for_reading(path);
  try {
    expect_run_file(file.get());
    check_seal(file.get());
    return {read_record(file.get(), path.string()), read_parts(file.get(), path.string())};
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path.string() + "': " + e.what());
  }
}

RunFile read_run_or_merged(const std::filesystem::path& path) {
  if (output_format_of(path) != kMergedFormat) return read_run_file(path);
  return reading(path, [&] {
    const OpenOutput open(path);
    format_of_run(open);
    std::vector<PartInfo> whole(1);
    read_event_files(open.file.get(), open.name, whole);
    RunFile run{read_run_record(path), {}, true, std::move(whole.front().event_files)};
    if (run.record.closed) return run;
    throw UserError("'" + open.name + "' is the merged file of a run that had not ended: it cannot be resumed");
  });
}

RunRecord read_run_record(const std::filesystem::path& path) {
  const H5Id file = open_for_reading(path);
  try {
    check_seal(file.get());
    return read_record(file.get(), path.string());
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path.string() + "': " + e.what());
  }
}

std::vector<std::filesystem::path> files_of_run(const std::filesystem::path& run_file) {
  std::vector<std::filesystem::path> files = {run_file};
  for (const auto& part : read_run_file(run_file).parts) files.push_back(run_file.parent_path() / part.name);
  return files;
}

}  // namespace eventloom
