#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5/output_file.hpp"
#include "io/run_format/detector_record.hpp"

namespace eventloom {

/// Writes nothing for an empty record.
void write_detector(const OutputFile& file, const DetectorRecord& detector, std::uint64_t tick_ps);
/// Returns an empty record when the file has no /detector. Throws UserError when it is damaged. `name` names the file.
DetectorRecord read_detector(hid_t file, const std::string& name);

}  // namespace eventloom
