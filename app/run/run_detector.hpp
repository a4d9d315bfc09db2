#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/detector/detector.hpp"
#include "core/detector/detector_map.hpp"
#include "core/detector/resolve_detector.hpp"
#include "io/run_format/detector_record.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// The options of a run that concern its detector.
struct DetectorOptions {
  DetectorMap map;                         ///< map of --detector; without rows: none
  std::vector<GroupOption> groups;         ///< options --group
  std::vector<DeadTimeOption> dead_times;  ///< options --dead-time
  KeptDetector kept;                       ///< detector with which the sources were saved, if they are time-sorted hits
};

/// Throws UserError.
DetectorMap read_detector_map(const std::string& file);

/// If the sources (URIs) are time-sorted hits, adopts the map with which they were saved, unless the options have a
/// map. Throws UserError if hits would be corrected twice.
void take_kept_detector(DetectorOptions& options, std::span<const std::string> sources);

/// Returns a detector without sources that has the groups of the options, to check expressions. Never null.
DetectorPtr named_groups(const DetectorOptions& options);

/// The detector resolved for the sources of a run, and its records for the output.
struct RunDetector {
  DetectorPtr detector;  ///< never null; applies only corrections not yet applied
  DetectorRecord record;
  KeptDetector kept;  ///< saved with time-sorted hits
};
/// Throws UserError.
RunDetector detector_of(const DetectorOptions& options, const DetectorSources& sources);

}  // namespace eventloom
