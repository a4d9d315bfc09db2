#pragma once

#include <string>

#include "app/run/run_config.hpp"
#include "core/detector/detector.hpp"
#include "core/detector/resolve_detector.hpp"
#include "io/hdf5/detector_record.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// Throws UserError.
DetectorMap read_detector_map(const std::string& file);

/// Where the sources are time-sorted hits: what their map says holds, unless the options have a map. Throws UserError
/// when that would correct hits once more.
void take_kept_detector(RunConfig& config);

/// A detector of no sources that has the groups of the options, for expressions to be checked. Never null.
DetectorPtr named_groups(const RunConfig& config);

/// The detector that the options describe, resolved for these sources, and what the output keeps of it.
struct RunDetector {
  DetectorPtr detector;  ///< never null; corrects what has not been corrected before
  DetectorRecord record;
  KeptDetector kept;  ///< for hits that are saved
};
/// Throws UserError.
RunDetector detector_of(const RunConfig& config, const DetectorSources& sources);

}  // namespace eventloom
