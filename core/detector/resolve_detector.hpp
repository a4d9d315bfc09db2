#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/detector/detector.hpp"
#include "core/detector/detector_map.hpp"

namespace eventloom {

/// The sources of the run for which a map is resolved.
struct DetectorSources {
  std::vector<std::string> names;  ///< indexed by source number
  std::uint64_t tick_ps = 1000;
  bool numbered = false;  ///< times are event numbers: offsets must be in ticks
};

/// A detector without sources that has the groups named by `map` and `groups`, in that order.
Detector named_groups(const DetectorMap& map, std::span<const GroupOption> groups);

/// The sources, ascending, that a text selects in the column `source` of a map: a number, a range of numbers, a name,
/// the last part of a name or a glob; empty: all. `names`: those of all sources, indexed by number.
std::vector<std::uint16_t> selected_sources(const std::string& text, const std::vector<std::string>& names);

/// Largest absolute offset in the map, in ticks of this length.
Tick largest_offset(const DetectorMap& map, std::uint64_t tick_ps);
/// Longest dead time in the map and the options, likewise.
Tick longest_dead_time(const DetectorMap& map, std::span<const DeadTimeOption> options, std::uint64_t tick_ps);

/// Applies the rows of the map, in their order, to the channels of these sources, and adds the groups of `groups`. The
/// detector's selections are those of the rows, then those of `groups`. A source name selects the sources with this
/// name, or whose name ends with it after a '/'; a glob likewise. Throws UserError for selections that match nothing,
/// and for offsets that do not fit.
Detector resolve_detector(const DetectorMap& map, std::span<const GroupOption> groups, const DetectorSources& sources);

/// Gives the channels of each option's group, or all, its dead time, which replaces that of the map; that of a group
/// outranks that of all. Throws UserError, also if options give a channel different ones.
void apply_dead_times(std::span<const DeadTimeOption> options, const DetectorSources& sources, Detector& detector);

}  // namespace eventloom
