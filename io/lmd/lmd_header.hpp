#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "formats/lmd.hpp"
#include "io/files/file_reader.hpp"

namespace eventloom {

/// Header of a file of either kind. Unprintable characters in texts become dots.
struct LmdFileHeader {
  bool classic = false;  ///< 2000/1, otherwise 101/1
  bool swapped = false;  ///< written big-endian
  std::uint64_t bytes = 0;

  LmdFlatHeader flat;  ///< header of a 101/1 file

  LmdBufferHeader buffer;  ///< the first bytes of a 2000/1 file
  std::uint64_t buffer_bytes = 0;
  std::string label;
  std::string file;
  std::string user;
  std::string time;
  std::string run;
  std::string experiment;
  std::vector<std::string> lines;
};

/// Whether `head`, the first bytes of a file, begins an LMD file of either kind.
bool begins_lmd_file(std::span<const std::byte> head);

/// Reads the header and advances `file` past it, or to the end of a file that ends within it. Throws UserError when
/// this is not an LMD file.
LmdFileHeader read_lmd_header(FileReader& file);

}  // namespace eventloom
