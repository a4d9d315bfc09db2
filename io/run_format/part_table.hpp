#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

class OutputFile;

/// Writes /parts of a run.h5, and the list-mode files beside them.
void write_parts(const OutputFile& file, std::span<const PartInfo> parts);
/// `name` names the file in messages. Throws UserError.
std::vector<PartInfo> read_parts(hid_t file, const std::string& name);

}  // namespace eventloom
