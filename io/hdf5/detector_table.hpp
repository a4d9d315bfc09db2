#pragma once

#include <cstdint>
#include <string>

#include "io/hdf5/detector_record.hpp"
#include "io/hdf5/output_file.hpp"

namespace eventloom {

inline constexpr const char* kDetectorGroup = "/detector";

/// Writes nothing where nothing is known.
void write_detector(const OutputFile& file, const DetectorRecord& detector, std::uint64_t tick_ps);
[[nodiscard]] bool has_detector(hid_t file);
/// Empty where the file has none. Throws UserError when it is damaged. `name`: of the file.
DetectorRecord read_detector(hid_t file, const std::string& name);

}  // namespace eventloom
