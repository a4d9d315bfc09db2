#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Names of the data that a source uses, for the rows of the registry. Files are named by identity, the same for any of
/// their names; a missing file has no name: opening it reports that.
using DataOf = std::vector<std::string> (*)(const SourceUri& uri);

/// All of its files.
std::vector<std::string> data_of_files(const SourceUri& uri);
/// The time column: each column is data of its own.
std::vector<std::string> data_of_columns(const SourceUri& uri);
/// The object of the group, the same for any path to it, and its dataset of times.
std::vector<std::string> data_of_group(const SourceUri& uri);
/// The events of an id in all of its files.
std::vector<std::string> data_of_events(const SourceUri& uri);
/// One stream of a folder.
std::vector<std::string> data_of_part(const SourceUri& uri);
/// The path itself.
std::vector<std::string> data_of_path(const SourceUri& uri);
/// Data that no other source can use.
std::vector<std::string> data_of_its_own(const SourceUri& uri);

/// Detects data that would enter a run twice.
class SameSource {
 public:
  /// Throws UserError that names both when `uri`, which uses `data`, shares some with one taken before.
  void take(const SourceUri& uri, std::span<const std::string> data);

 private:
  std::map<std::string, std::string> taken_;  ///< URI, by the name of the data
};

}  // namespace eventloom
