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
  std::string file;       ///< empty: the data are not in a file
  std::string selection;  ///< the part of the file that is used, empty: all of it; without a file, the data's name
};
using DataOf = std::vector<UsedData> (*)(const SourceUri& uri);

/// All files of the source.
std::vector<UsedData> data_of_files(const SourceUri& uri);
/// The time column, and the rows chosen by the key `where`; others are different data.
std::vector<UsedData> data_of_columns(const SourceUri& uri);
/// The HDF5 object of the group, which is the same for any path to it, and its dataset of times.
std::vector<UsedData> data_of_group(const SourceUri& uri);
/// The events with one id in all files of the source; other banks are other data.
std::vector<UsedData> data_of_events(const SourceUri& uri);
/// One stream of a folder.
std::vector<UsedData> data_of_part(const SourceUri& uri);
/// The path itself.
std::vector<UsedData> data_of_path(const SourceUri& uri);
/// Data that no other source can use.
std::vector<UsedData> data_of_its_own(const SourceUri& uri);

/// Detects data that would enter a run twice. A file is identified by device and inode, so that its name does not
/// matter; copies are found by comparing contents, except between sources of different `origin` or `system`, which are
/// different devices. A missing file is ignored here: opening it reports the error.
class SameSource {
 public:
  /// Adds `uri`, which uses `data`. Throws UserError that names both URIs when an earlier one uses some of the same
  /// data.
  void take(const SourceUri& uri, std::span<const UsedData> data);
  /// One entry per URI taken, in that order: a message if one of its files is a copy of another file, else empty. See
  /// find_copies(). Throws UserError when files within one source are copies.
  [[nodiscard]] std::vector<std::string> copies() const;

 private:
  std::map<std::string, std::string> taken_;  ///< URIs by the name of their data
  std::vector<UsedFile> files_;
  std::size_t sources_ = 0;
};

}  // namespace eventloom
