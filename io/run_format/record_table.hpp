#pragma once

#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

class OutputFile;

/// Writes the record of the run as a whole to run.h5.
void write_record(const OutputFile& file, const RunRecord& record);
/// Reads the record from a run.h5 or a merged file. `name` names the file in messages. Throws UserError.
RunRecord read_record(hid_t file, const std::string& name);

/// Writes /sources of a run.h5 or a merged file.
void write_sources(const OutputFile& file, const std::vector<SourceRecord>& sources);

}  // namespace eventloom
