#include "io/registry/same_source.hpp"

#include <filesystem>
#include <optional>

#include "core/runtime/error.hpp"
#include "io/files/own_file.hpp"
#include "io/hdf5/group_search.hpp"
#include "io/registry/expand_uri.hpp"

namespace eventloom {

namespace {

/// `selection`: the part of each file that is used, where that is not all of it.
std::vector<std::string> data_in(const std::vector<std::string>& files, const std::string& selection) {
  std::vector<std::string> data;
  for (const auto& file : files) {
    const auto identity = identity_of(std::filesystem::path(file));
    if (!identity) continue;
    data.push_back(std::to_string(identity->device) + ":" + std::to_string(identity->inode) + " " + selection);
  }
  return data;
}

}  // namespace

std::vector<std::string> data_of_files(const SourceUri& uri) { return data_in(files_at_path(uri), ""); }

std::vector<std::string> data_of_columns(const SourceUri& uri) { return data_in({uri.path()}, uri.get("time", "")); }

std::vector<std::string> data_of_group(const SourceUri& uri) {
  const auto group = uri.get("group", "/");
  const auto object = group_identity(uri.path(), group);
  return data_in({uri.path()}, (object == 0 ? group : std::to_string(object)) + ":" + uri.get("time", "time"));
}

std::vector<std::string> data_of_events(const SourceUri& uri) {
  return data_in(files_at_path(uri), uri.get("event", ""));
}

std::vector<std::string> data_of_part(const SourceUri& uri) { return data_in({uri.path()}, uri.get("part", "")); }

std::vector<std::string> data_of_path(const SourceUri& uri) { return {uri.path()}; }

std::vector<std::string> data_of_its_own(const SourceUri& /*uri*/) { return {}; }

void SameSource::take(const SourceUri& uri, std::span<const std::string> data) {
  for (const auto& name : data) {
    const auto [other, is_new] = taken_.try_emplace(name, uri.text());
    if (is_new) continue;
    if (other->second == uri.text()) throw UserError("source '" + uri.text() + "' is given twice; remove one");
    throw UserError("source '" + uri.text() + "' has the same data as '" + other->second + "'; remove one");
  }
}

}  // namespace eventloom
