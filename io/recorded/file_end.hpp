#pragma once

#include <cstdint>
#include <string>

#include "io/files/defect_log.hpp"
#include "io/files/file_reader.hpp"
#include "io/recorded/hit_reader.hpp"

namespace eventloom {

/// Why data of a file that has been read to its end may be missing: the disk failed, `cut`, or the file has grown.
/// Empty if none are missing. `cut` describes how the file ends inside an element; empty if it does not.
std::string end_defect(const FileReader& file, const std::string& cut = {});

/// Reports that defect, if any, and adds a loss of `hits` to `block`, at which the stream breaks off. Then reports the
/// totals of defects not shown.
void report_end(const FileReader& file, const std::string& cut, std::uint32_t hits, DefectLog& defect_log,
                HitBlock& block);

}  // namespace eventloom
