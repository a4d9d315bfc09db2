#include "io/sources/same_source.hpp"

#include <filesystem>
#include <optional>

#include "core/runtime/error.hpp"
#include "io/files/own_file.hpp"
#include "io/hdf5/group_search.hpp"

namespace eventloom {

namespace {

/// Empty when there is no such file: who opens it says so.
std::string text_of(const std::optional<FileIdentity>& identity) {
  return identity ? std::to_string(identity->device) + ":" + std::to_string(identity->inode) : "";
}

/// What the URI takes of a file, where that is not all of it.
std::string selection_of(const SourceUri& uri, const std::string& file) {
  const auto& scheme = uri.scheme();
  if (scheme == "sorted") return uri.get("part", "");
  if (scheme == "csv" || scheme == "packed") return uri.get("time", "");
  if (scheme != "hdf5") return {};
  const auto group = uri.get("group", "/");
  const auto object = group_identity(file, group);
  return (object == 0 ? group : std::to_string(object)) + ":" + uri.get("time", "time");
}

}  // namespace

void SameSource::take(const SourceUri& uri, std::span<const std::string> files) {
  if (uri.scheme() == "gen" || uri.scheme() == "udp") return;
  for (const auto& file : files) {
    const auto identity = uri.scheme() == "mbs" ? file : text_of(identity_of(std::filesystem::path(file)));
    if (identity.empty()) continue;
    const auto [other, is_new] = taken_.try_emplace(identity + " " + selection_of(uri, file), uri.text());
    if (is_new) continue;
    if (other->second == uri.text()) throw UserError("source '" + uri.text() + "' is given twice; leave one out");
    throw UserError("source '" + uri.text() + "' has the same data as '" + other->second + "'; leave one out");
  }
}

}  // namespace eventloom
