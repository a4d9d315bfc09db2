#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Names of the data that a source takes, for the rows of the registry. Files are named by identity, so they are the
/// same by any of their names; one that is not there has no name: who opens it says so.
using DataOf = std::vector<std::string> (*)(const SourceUri& uri);

/// All of its files.
std::vector<std::string> data_of_files(const SourceUri& uri);
/// The column of times: each is data of its own.
std::vector<std::string> data_of_columns(const SourceUri& uri);
/// The object that the group is, by any path to it, and the dataset of times.
std::vector<std::string> data_of_group(const SourceUri& uri);
/// One stream of a folder.
std::vector<std::string> data_of_part(const SourceUri& uri);
/// What the path says.
std::vector<std::string> data_of_path(const SourceUri& uri);
/// Data that no other source can have.
std::vector<std::string> data_of_its_own(const SourceUri& uri);

/// Finds data that would enter a run twice.
class SameSource {
 public:
  /// Throws UserError that names both when `uri`, which takes `data`, has some in common with one taken before.
  void take(const SourceUri& uri, std::span<const std::string> data);

 private:
  std::map<std::string, std::string> taken_;  ///< what is read of what, and the URI
};

}  // namespace eventloom
