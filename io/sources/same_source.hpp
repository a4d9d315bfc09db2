#pragma once

#include <map>
#include <span>
#include <string>

#include "io/sources/source_uri.hpp"

namespace eventloom {

/// Finds data that would enter a run twice. Files are compared by identity, so by any of their names; an HDF5 group by
/// its object; of files whose columns the URI names (csv:, hdf5:, packed:) each column of times is data of its own.
/// Generated sources are never the same.
class SameSource {
 public:
  /// Throws UserError that names both when `uri`, read from `files`, has data in common with one taken before.
  void take(const SourceUri& uri, std::span<const std::string> files);

 private:
  std::map<std::string, std::string> taken_;  ///< what is read of what, and the URI
};

}  // namespace eventloom
