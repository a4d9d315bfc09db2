#pragma once

#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"
#include "io/run_format/run_record.hpp"

namespace eventloom {

class OutputFile;

/// Attribute of run files, merged files and parts: the number of the run, if it is one of several.
inline constexpr const char* kRunNumber = "run_number";

/// Writes the record of the run as a whole to run.h5.
void write_record(const OutputFile& file, const RunRecord& record);
/// Reads the record from a run.h5 or a merged file. `name` names the file in messages. Throws UserError.
RunRecord read_record(hid_t file, const std::string& name);

/// Writes /invocations, which a run.h5 has; nothing when the folders are not known.
void write_folders(const OutputFile& file, const RunRecord& record);

/// Writes /sources of a run.h5 or a merged file.
void write_sources(const OutputFile& file, const std::vector<SourceRecord>& sources);

}  // namespace eventloom
