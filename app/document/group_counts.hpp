#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/run_format/detector_record.hpp"

namespace eventloom {

/// Hits by group. A hit counts in each group of its channel.
struct GroupHits {
  std::vector<std::uint64_t> of_group;  ///< indexed like KnownChannels::groups()
  std::uint64_t of_none = 0;            ///< hits of channels in no group
};

/// Counts all hits by group, including those of unknown channels.
class GroupCounts {
 public:
  /// `known` must outlive the object.
  explicit GroupCounts(const KnownChannels& known) : known_(&known), of_range_(known.ranges().size() + 1) {}

  /// Both spans have the same length: the source and the channel of each hit.
  void add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels);
  void add(std::uint32_t source, std::uint32_t channel, std::uint64_t hits) {
    of_range_[known_->place_of(source, channel)] += hits;
  }

  [[nodiscard]] GroupHits hits() const;

 private:
  const KnownChannels* known_;
  std::vector<std::uint64_t> of_range_;  ///< indexed by place; the last element counts hits of unknown channels
};

}  // namespace eventloom
