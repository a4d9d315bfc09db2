#include "io/run_format/run_index.hpp"

#include "core/runtime/error.hpp"
#include "core/runtime/format.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/input_file.hpp"
#include "io/hdf5/objects.hpp"
#include "io/hdf5/output_file.hpp"
#include "io/hdf5/output_kind.hpp"
#include "io/hdf5/seal.hpp"

namespace eventloom {

namespace {

std::vector<std::string> texts_of(const RunIndex& index, std::string RunIndex::Run::*field) {
  std::vector<std::string> texts;
  for (const auto& run : index.runs) texts.push_back(run.*field);
  return texts;
}

RunIndex read(hid_t root) {
  RunIndex index;
  check_seal(root);
  index.closed = read_number(root, "closed") != 0;
  const auto names = read_texts(root, "names");
  const auto files = read_texts(root, "files");
  const auto definitions = read_texts(root, "definitions");
  if (files.size() != names.size() || definitions.size() != names.size()) {
    throw UserError("its lists of names, files and definitions differ in length");
  }
  for (std::size_t i = 0; i < names.size(); ++i) index.runs.push_back({names[i], files[i], definitions[i]});
  return index;
}

}  // namespace

void write_run_index(const std::filesystem::path& path, const RunIndex& index) {
  OutputFile file(path);
  file.fill([&] {
    write_attribute(file.id(), "format", kIndexFormat);
    write_attribute(file.id(), "format_version", kOutputVersion);
    write_attribute(file.id(), "closed", std::uint64_t{index.closed});
    write_attribute(file.id(), "names", texts_of(index, &RunIndex::Run::name));
    write_attribute(file.id(), "files", texts_of(index, &RunIndex::Run::file));
    write_attribute(file.id(), "definitions", texts_of(index, &RunIndex::Run::definition));
    seal_file(file.id());
    for (const auto& run : index.runs) link_file(file.id(), run.name, run.file);
  });
  file.close();
  file.publish();
}

RunIndex read_run_index(const std::filesystem::path& path) {
  const H5Id file = open_for_reading(path);
  try {
    if (read_text(file.get(), "format") != kIndexFormat) throw UserError("not the index of a run's definitions");
    const auto version = read_number(file.get(), "format_version");
    if (version != kOutputVersion) {
      throw UserError(fmt::format("format version {}, this program reads version {}", version, kOutputVersion));
    }
    return read(file.get());
  } catch (const std::runtime_error& e) {
    throw UserError("'" + path.string() + "': " + e.what());
  }
}

bool is_run_index(const std::filesystem::path& file) { return output_format_of(file) == kIndexFormat; }

void refuse_index(const std::filesystem::path& file) {
  if (!is_run_index(file)) return;
  std::string files;
  for (const auto& run : read_run_index(file).runs) files += (files.empty() ? "'" : " or '") + run.file + "'";
  throw UserError("'" + file.string() + "' is the index of a run with several definitions of events: give " + files +
                  ", beside it");
}

}  // namespace eventloom
