#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// A file of a source. `selection` identifies the part of its data that the source uses.
struct UsedFile {
  std::string path;
  std::string selection;
  std::size_t source = 0;
};

struct FileCopy {
  std::string file;
  std::string original;    ///< the earlier file with the same contents
  std::size_t source = 0;  ///< the source of `file`
  bool joined = false;     ///< both files belong to the same source
};

/// The files that have the same contents and selection as an earlier file. A compressed copy is detected only if both
/// names differ in nothing but the packed ending. Otherwise, only files of equal size whose first, middle and last
/// blocks agree are read in full, and files below 32 bytes are skipped: a few hits may agree by chance.
std::vector<FileCopy> find_copies(std::span<const UsedFile> files);

}  // namespace eventloom
