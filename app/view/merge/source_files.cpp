#include "app/view/merge/source_files.hpp"

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <system_error>

#include "io/files/file_checksum.hpp"
#include "io/registry/expand_uri.hpp"

namespace eventloom {

namespace {

namespace fs = std::filesystem;

constexpr auto kSourceOfRun = "a source of the run";

/// Returns 0 if there is no such file.
std::uint64_t bytes_of(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? 0 : bytes;
}

/// Whether the files at `place` may be the source: copies elsewhere are then not the only recording.
bool plan_place(FilePlan& plan, const fs::path& place, const InputFile& input) {
  std::uint64_t bytes = 0;
  for (const auto& file : found_files(place.string())) {
    plan.read(file, kSourceOfRun);
    bytes += bytes_of(file);
  }
  return bytes == input.bytes;
}

/// Finds consecutive files that together have the contents of the source, which are several files if it was
/// read with `concat`.
void plan_same_contents(FilePlan& plan, const std::vector<fs::path>& files, const InputFile& input) {
  for (std::size_t first = 0; first < files.size(); ++first) {
    std::vector<std::string> names;
    std::uint64_t bytes = 0;
    for (std::size_t i = first; i < files.size() && bytes < input.bytes; ++i) {
      names.push_back(files[i].string());
      bytes += bytes_of(files[i]);
    }
    if (bytes != input.bytes || describe_files("", names).crc32c != input.crc32c) continue;
    for (const auto& name : names) plan.read(name, kSourceOfRun);
  }
}

}  // namespace

void plan_source_files(FilePlan& plan, const RunRecord& record, const fs::path& folder,
                       const std::vector<fs::path>& replaced) {
  std::set<fs::path> places(record.folders.begin(), record.folders.end());
  if (places.empty()) places.emplace();
  places.insert(folder);
  for (const auto& source : record.sources) {
    const auto& input = source.input;
    if (input.path.empty()) continue;
    bool found = false;
    for (const auto& place : places) found = plan_place(plan, place / input.path, input) || found;
    if (!found) plan_same_contents(plan, replaced, input);
  }
}

}  // namespace eventloom
