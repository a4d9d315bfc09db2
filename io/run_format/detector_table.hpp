#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5/output_file.hpp"
#include "io/run_format/detector_record.hpp"

namespace eventloom {

/// Writes nothing where nothing is known.
void write_detector(const OutputFile& file, const DetectorRecord& detector, std::uint64_t tick_ps);
/// Empty where the file has none. Throws UserError when it is damaged. `name`: of the file.
DetectorRecord read_detector(hid_t file, const std::string& name);

}  // namespace eventloom
