#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace eventloom {

/// A file of a source, of which `selection` is used.
struct UsedFile {
  std::string path;
  std::string selection;
  std::size_t source = 0;
};

struct FileCopy {
  std::string file;
  std::string original;    ///< given before
  std::size_t source = 0;  ///< of `file`
  bool joined = false;     ///< they are files of one source
};

/// The files with the same contents as one before them, of which the same is used; also one that is another one
/// compressed, if their names say so. Only files of equal size whose first, middle and last bytes agree are read; a
/// few hits, in less than 32 bytes, may agree by chance.
std::vector<FileCopy> find_copies(std::span<const UsedFile> files);

}  // namespace eventloom
