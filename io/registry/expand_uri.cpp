#include "io/registry/expand_uri.hpp"

#include <algorithm>
#include <filesystem>

#include "core/runtime/error.hpp"
#include "io/compass/compass_segments.hpp"
#include "io/files/packing.hpp"
#include "io/hdf5_input/group_search.hpp"
#include "io/hdf5_input/hdf5_reader.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

namespace {

/// Like found_files(), but also returns a path without wildcards, whether or not the file exists.
std::vector<std::string> matching_files(const std::string& pattern) {
  if (!has_wildcard(pattern)) return {pattern};
  auto paths = found_files(pattern);
  if (paths.empty()) throw UserError("no file matches '" + pattern + "'");
  return paths;
}

std::vector<SourceSpec> groups_of(const SourceUri& file) {
  require_unpacked(file.path());
  const auto pattern = file.get("group", "/");
  const auto groups = find_groups(file.path(), pattern, hdf5_columns(file));
  if (groups.empty()) {
    const bool dataset = names_dataset(file.path(), pattern);
    throw UserError("'" + file.path() + "': " +
                    (dataset ? "'" + pattern + "' is a dataset; of a table, name the fields: time=TABLE/FIELD"
                             : "no group matches '" + pattern + "'"));
  }
  if (std::ranges::none_of(groups, [](const FoundGroup& group) { return group.defect.empty(); })) {
    throw UserError("cannot read '" + file.path() + ":" + groups.front().path + "': " + groups.front().defect);
  }
  std::vector<SourceSpec> sources;
  for (const auto& group : groups) {
    sources.push_back({file.with("group", group.path)});
    sources.back().defect = group.defect;
  }
  return sources;
}

/// One source per group of all files, which must have the same groups.
void expand_joined_groups(const SourceUri& uri, std::span<const std::string> paths, std::vector<SourceSpec>& out) {
  std::vector<SourceSpec> first;
  for (const auto& path : paths) {
    auto groups = groups_of(uri.with_path(path));
    for (const auto& group : groups) {
      if (!group.defect.empty()) throw UserError("cannot read '" + group.uri.text() + "': " + group.defect);
    }
    if (first.empty()) first = std::move(groups);
    const auto name = [](const SourceSpec& source) { return source.uri.get("group", ""); };
    if (path == paths.front() || std::ranges::equal(first, groups, {}, name, name)) continue;
    throw UserError("'" + path + "' has other groups than '" + paths.front() +
                    "': the files that concat joins must have the same ones");
  }
  for (const auto& source : first) out.push_back({source.uri.with_path(uri.path())});
}

}  // namespace

void expand_files(const SourceUri& uri, std::vector<SourceSpec>& out) {
  if (uri.has("concat") || uri.has("follow")) return expand_one(uri, out);
  for (const auto& path : matching_files(uri.path())) out.push_back({uri.with_path(path)});
}

void expand_segments(const SourceUri& uri, std::vector<SourceSpec>& out) {
  if (uri.has("concat") || uri.has("follow")) return expand_one(uri, out);
  for (const auto& segment : compass_segments(uri, matching_files(uri.path()))) out.push_back({segment});
}

void expand_one(const SourceUri& uri, std::vector<SourceSpec>& out) { out.push_back({uri}); }

void expand_groups(const SourceUri& uri, std::vector<SourceSpec>& out) {
  const auto paths = matching_files(uri.path());
  if (uri.has("concat")) return expand_joined_groups(uri, paths, out);
  for (const auto& path : paths) {
    for (auto& source : groups_of(uri.with_path(path))) out.push_back(std::move(source));
  }
}

void expand_parts(const SourceUri& uri, std::vector<SourceSpec>& out) {
  const auto parts = read_sorted_manifest(uri.path()).files.size();
  for (std::size_t part = 0; part < parts; ++part) out.push_back({uri.with("part", std::to_string(part))});
}

std::vector<std::string> places_of_ports(const SourceUri& uri) {
  const auto& path = uri.path();
  const auto colon = path.rfind(':');
  if (!path.starts_with("//") || colon == std::string::npos) {
    uri.refuse("expected " + uri.scheme() + "://[ADDR]:PORT[,PORT...]");
  }
  const auto address = path.substr(0, colon + 1);
  std::vector<std::string> places;
  for (auto at = colon; at != std::string::npos;) {
    const auto comma = path.find(',', at + 1);
    places.push_back(address + path.substr(at + 1, comma == std::string::npos ? comma : comma - at - 1));
    at = comma;
  }
  return places;
}

void expand_ports(const SourceUri& uri, std::vector<SourceSpec>& out) {
  for (const auto& place : places_of_ports(uri)) out.push_back({uri.with_path(place)});
}

void expand_boards(const SourceUri& uri, std::vector<SourceSpec>& out) {
  const auto same_port = [&](const SourceSpec& spec) {
    return spec.uri.scheme() == uri.scheme() && spec.uri.path() == uri.path();
  };
  if (std::ranges::any_of(out, same_port)) {
    uri.refuse("another source uses this port; name all its boards in one source: ?sources=3,5,9");
  }
  const auto boards = uri.get("sources", "");
  const auto n = static_cast<std::uint32_t>(1 + std::ranges::count(boards, ','));
  const auto home = static_cast<std::uint32_t>(out.size());
  for (std::uint32_t board = 0; board < n; ++board) out.push_back({uri, home, board});
}

std::vector<std::string> files_at_path(const SourceUri& uri) {
  if (uri.has("follow")) return found_files(uri.path());
  return uri.has("concat") ? matching_files(uri.path()) : std::vector{uri.path()};
}

std::vector<std::string> files_in_folder(const SourceUri& uri) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(uri.path(), error)) files.push_back(entry.path());
  return files;
}

std::vector<std::string> no_files(const SourceUri& /*uri*/) { return {}; }

}  // namespace eventloom
