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
  std::map<std::uint32_t, std::uint64_t> hits;  ///< channel to number of hits
};

/// The contents of recordings, as a basis for the first map of a detector.
struct DetectorSurvey {
  std::vector<SurveyedSource> sources;  ///< indexed by source number
  double seconds = 0;                   ///< time from the first epoch with data to the last; 0: times are event numbers
  bool damaged = false;                 ///< some data could not be read
};

/// Reads all data of a recording, which is the next source. For time-sorted hits with a manifest, the sources are the
/// original ones.
void add_to_survey(DetectorSurvey& survey, Source& stream, const std::optional<SortedManifest>& sorted);

/// Returns the text of a map that changes nothing: a row per channel, with its rate. A remark marks channels with more
/// than kNoisy times the median rate of their source's channels, if the source has at least kLeastChannels of them.
std::string first_map(const DetectorSurvey& survey);
inline constexpr double kNoisy = 10;
inline constexpr std::size_t kLeastChannels = 4;

}  // namespace eventloom
