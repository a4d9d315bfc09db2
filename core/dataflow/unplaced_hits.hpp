#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "core/dataflow/decoded_hits.hpp"
#include "core/definitions/event_list.hpp"
#include "core/detector/channel_table.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// Hits without a position, of one source.
struct UnplacedOfSource {
  std::uint64_t hits = 0;
  std::uint32_t low = std::numeric_limits<std::uint32_t>::max();  ///< lowest of their channels
  std::uint32_t high = 0;                                         ///< highest

  void add(const UnplacedOfSource& other) {
    hits += other.hits;
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
};
/// Unplaced hits of all sources that have any, by number of the source.
using UnplacedHits = std::map<std::uint32_t, UnplacedOfSource>;

/// Counts the hits that definitions which look at positions cannot place. Without positions in the detector, channels
/// are pixels.
class UnplacedCounter {
 public:
  explicit UnplacedCounter(const DetectorPtr& detector);

  /// Counts those of the slice. `keys`: ascending.
  void count(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds);
  void add_to(UnplacedHits& unplaced) const;

 private:
  bool pixels_;
  ChannelTable<std::uint8_t> placed_;  ///< whether channels have positions
  std::vector<ChannelTable<std::uint8_t>::OfSource> of_sources_;
  std::vector<UnplacedOfSource> unplaced_;  ///< indexed by source
};

}  // namespace eventloom
