#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/detector/detector.hpp"
#include "core/detector/detector_map.hpp"

namespace eventloom {

/// What a map is resolved for.
struct DetectorSources {
  std::vector<std::string> names;  ///< by number
  std::uint64_t tick_ps = 1000;
  bool numbered = false;  ///< times are event numbers: offsets must be in ticks
};

/// A detector of no sources with the groups that are named, in the order in which they are.
Detector named_groups(const DetectorMap& map, std::span<const GroupOption> groups);

/// Greatest size of an offset in the map, in ticks of this length.
Tick largest_offset(const DetectorMap& map, std::uint64_t tick_ps);

/// The channels of these sources: what the rows of the map say, in their order, and the groups of `groups` in addition.
/// Its selections are those of the rows, then those of `groups`.
/// A name of a source selects those with this name, or whose name ends with it after a '/'; a glob likewise. Throws
/// UserError for what selects nothing, and for offsets that do not fit.
Detector resolve_detector(const DetectorMap& map, std::span<const GroupOption> groups, const DetectorSources& sources);

}  // namespace eventloom
