#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "io/run_format/part_info.hpp"

namespace eventloom {

class OutputFile;

/// Writes /event_files of a run.h5: the list-mode files beside its parts. Writes nothing when there are none. A merged
/// file counts as one part.
void write_event_files(const OutputFile& file, std::span<const PartInfo> parts);

/// Adds each list-mode file to its part. `name` names the file in messages. Throws UserError.
void read_event_files(hid_t file, const std::string& name, std::vector<PartInfo>& parts);

}  // namespace eventloom
