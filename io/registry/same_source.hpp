#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/registry/file_copies.hpp"
#include "io/uri/source_uri.hpp"

namespace eventloom {

/// Data that a source uses.
struct UsedData {
  std::string file;       ///< empty: they are in no file
  std::string selection;  ///< what of the file is used, where that is not all of it; without a file, their name
};
using DataOf = std::vector<UsedData> (*)(const SourceUri& uri);

/// All of its files.
std::vector<UsedData> data_of_files(const SourceUri& uri);
/// The time column: each column is data of its own.
std::vector<UsedData> data_of_columns(const SourceUri& uri);
/// The object of the group, the same for any path to it, and its dataset of times.
std::vector<UsedData> data_of_group(const SourceUri& uri);
/// The events of an id in all of its files.
std::vector<UsedData> data_of_events(const SourceUri& uri);
/// One stream of a folder.
std::vector<UsedData> data_of_part(const SourceUri& uri);
/// The path itself.
std::vector<UsedData> data_of_path(const SourceUri& uri);
/// Data that no other source can use.
std::vector<UsedData> data_of_its_own(const SourceUri& uri);

/// Detects data that would enter a run twice. Files are told apart by identity, the same for any of their names, and
/// copies of them by their contents; a missing file is not judged: opening it reports that.
class SameSource {
 public:
  /// Throws UserError that names both when `uri`, which uses `data`, shares some with one taken before.
  void take(const SourceUri& uri, std::span<const UsedData> data);
  /// For each that was taken, in that order: why its data would enter the run twice though its files are others, which
  /// have the same contents; empty when they have not. See find_copies(). Throws UserError when files
  /// of one source are copies.
  [[nodiscard]] std::vector<std::string> copies() const;

 private:
  std::map<std::string, std::string> taken_;  ///< URI, by the name of the data
  std::vector<UsedFile> files_;
  std::size_t sources_ = 0;
};

}  // namespace eventloom
