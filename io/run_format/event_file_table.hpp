#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

class OutputFile;

/// Writes /event_files of a run.h5, the list-mode files beside its parts; nothing where there are none.
void write_event_files(const OutputFile& file, std::span<const PartInfo> parts);

/// Adds them to the parts that they belong to. `name`: of the file, for messages. Throws UserError.
void read_event_files(hid_t file, const std::string& name, std::vector<PartInfo>& parts);

}  // namespace eventloom
