#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/dataflow/source.hpp"
#include "io/sorted/sorted_manifest.hpp"

namespace eventloom {

/// The channels of a source that have hits.
struct SurveyedSource {
  std::string name;
  std::map<std::uint32_t, std::uint64_t> hits;  ///< by channel
};

/// What recordings hold: the material of a first map of a detector.
struct DetectorSurvey {
  std::vector<SurveyedSource> sources;  ///< by number
  double seconds = 0;                   ///< from the first epoch with data to the last; 0: times are event numbers
  bool damaged = false;                 ///< some data could not be read
};

/// Reads all data of a recording, which is the next source. Of time-sorted hits, with their manifest, the
/// sources are those that they came from.
void add_to_survey(DetectorSurvey& survey, Source& stream, const std::optional<SortedManifest>& sorted);

/// The text of a map that changes nothing: a row for each channel, with its rate; a remark on those that have more than
/// kNoisy times the median rate of the channels of their source, where that has at least kLeastChannels.
std::string first_map(const DetectorSurvey& survey);
inline constexpr double kNoisy = 10;
inline constexpr std::size_t kLeastChannels = 4;

}  // namespace eventloom
