#include "io/registry/same_source.hpp"

#include <filesystem>
#include <optional>

#include "core/runtime/error.hpp"
#include "io/files/own_file.hpp"
#include "io/hdf5_input/group_search.hpp"
#include "io/registry/expand_uri.hpp"

namespace eventloom {

namespace {

std::vector<UsedData> data_in(const std::vector<std::string>& files, const std::string& selection) {
  std::vector<UsedData> data;
  for (const auto& file : files) data.push_back({file, selection});
  return data;
}

/// A unique name of the data; empty when their file is missing.
std::string name_of(const UsedData& data) {
  if (data.file.empty()) return data.selection;
  const auto identity = identity_of(std::filesystem::path(data.file));
  if (!identity) return {};
  return std::to_string(identity->device) + ":" + std::to_string(identity->inode) + " " + data.selection;
}

/// A file's own channels count as those of system 0, which most are.
std::string system_of(const SourceUri& uri) {
  const auto text = uri.get("system", "0");
  return text.find_first_not_of('0') == std::string::npos ? "0" : text;
}

}  // namespace

std::vector<UsedData> data_of_files(const SourceUri& uri) { return data_in(files_at_path(uri), ""); }

std::vector<UsedData> data_of_columns(const SourceUri& uri) {
  return data_in(files_at_path(uri), uri.get("time", "") + (uri.has("where") ? "," + uri.get("where", "") : ""));
}

std::vector<UsedData> data_of_group(const SourceUri& uri) {
  const auto group = uri.get("group", "/");
  std::vector<UsedData> data;
  for (const auto& file : files_at_path(uri)) {
    const auto object = group_identity(file, group);
    data.push_back({file, (object == 0 ? group : std::to_string(object)) + ":" + uri.get("time", "time") +
                              (uri.has("where") ? "," + uri.get("where", "") : "")});
  }
  return data;
}

std::vector<UsedData> data_of_events(const SourceUri& uri) {
  return data_in(files_at_path(uri), uri.get("event", "") + (uri.has("bank") ? ":" + uri.get("bank", "") : ""));
}

std::vector<UsedData> data_of_part(const SourceUri& uri) { return data_in({uri.path()}, uri.get("part", "")); }

std::vector<UsedData> data_of_path(const SourceUri& uri) { return {{"", uri.path()}}; }

std::vector<UsedData> data_of_its_own(const SourceUri& /*uri*/) { return {}; }

void SameSource::take(const SourceUri& uri, std::span<const UsedData> data) {
  for (const auto& used : data) {
    const auto name = name_of(used);
    if (name.empty()) continue;
    const auto [other, is_new] = taken_.try_emplace(name, uri.text());
    if (is_new) {
      // A file that still grows has no contents to compare yet.
      if (!used.file.empty() && !uri.has("follow"))
        files_.push_back({used.file, used.selection + "@" + uri.get("origin", "") + "@" + system_of(uri), sources_});
      continue;
    }
    if (other->second == uri.text()) throw UserError("source '" + uri.text() + "' is given twice; remove one");
    throw UserError("source '" + uri.text() + "' has the same data as '" + other->second + "'; remove one");
  }
  ++sources_;
}

std::vector<std::string> SameSource::copies() const {
  std::vector<std::string> reasons(sources_);
  for (const auto& copy : find_copies(files_)) {
    auto& reason = reasons[copy.source];
    reason = "'" + copy.file + "' has the same contents as '" + copy.original +
             "', which is read, too: its data would be counted twice; remove one, or give each a system= of its own "
             "if they come from two devices";
    if (copy.joined) throw UserError(reason);
  }
  return reasons;
}

}  // namespace eventloom
