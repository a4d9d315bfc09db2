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

/// What the options of a run say of its detector.
struct DetectorOptions {
  DetectorMap map;                  ///< of --detector; without rows: none
  std::vector<GroupOption> groups;  ///< of --group
  KeptDetector kept;                ///< with which time-sorted hits, if these are the sources, were saved
};

/// Throws UserError.
DetectorMap read_detector_map(const std::string& file);

/// Where the sources, URIs, are time-sorted hits: what their map says holds, unless the options have a map. Throws
/// UserError when that would correct hits once more.
void take_kept_detector(DetectorOptions& options, std::span<const std::string> sources);

/// A detector of no sources that has the groups of the options, for expressions to be checked. Never null.
DetectorPtr named_groups(const DetectorOptions& options);

/// The detector that the options describe, resolved for these sources, and what the output keeps of it.
struct RunDetector {
  DetectorPtr detector;  ///< never null; corrects what has not been corrected before
  DetectorRecord record;
  KeptDetector kept;  ///< for hits that are saved
};
/// Throws UserError.
RunDetector detector_of(const DetectorOptions& options, const DetectorSources& sources);

}  // namespace eventloom
