#pragma once

#include <cstdint>
#include <string>

#include "io/files/complaints.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Why data of a file that has been read to its end may be missing: the disk failed, `cut`, or the file has grown.
/// Empty when they are all there. `cut`: how the file ends inside an element; empty when it does not.
std::string end_defect(const FileReader& file, const std::string& cut = {});

/// Reports that defect, if there is one, and that the stream breaks off there, with the loss of `hits`; then how many
/// defects of the file were suppressed.
void report_end(const FileReader& file, const std::string& cut, std::uint32_t hits, Complaints& complaints,
                HitBlock& block);

}  // namespace eventloom
