#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/tools/align/alignment.hpp"
#include "core/detector/detector.hpp"
#include "core/detector/detector_map.hpp"

namespace eventloom {

/// The text of a new map: the given one (its text may be empty), then a row for each unit whose offset was found, or
/// several where its channels had different offsets. The rows have the sum of both offsets and its error, and the
/// drift, if known, for information. The unit is that of the given map's offsets, or nanoseconds.
std::string aligned_map(const DetectorMap& given, const Detector& detector, const std::vector<std::string>& sources,
                        const Alignment& alignment, std::uint64_t tick_ps);

/// Whether the file was written by `eventloom align`.
bool is_aligned_map(const std::filesystem::path& file);

}  // namespace eventloom
