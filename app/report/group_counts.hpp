#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/run_format/detector_record.hpp"

namespace eventloom {

/// Hits in groups. A hit counts in each group of its channel.
struct GroupHits {
  std::vector<std::uint64_t> of_group;  ///< by number, as KnownChannels::groups()
  std::uint64_t of_none = 0;            ///< hits of channels in no group
};

/// Counts hits by group, all of them, whatever their channels are.
class GroupCounts {
 public:
  /// `known` must outlive it.
  explicit GroupCounts(const KnownChannels& known) : known_(&known), of_range_(known.ranges().size() + 1) {}

  /// As many of each: the source and the channel of a hit.
  void add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels);
  void add(std::uint32_t source, std::uint32_t channel, std::uint64_t hits) {
    of_range_[known_->place_of(source, channel)] += hits;
  }

  [[nodiscard]] GroupHits hits() const;

 private:
  const KnownChannels* known_;
  std::vector<std::uint64_t> of_range_;  ///< by place; at the end those of channels of which nothing is known
};

}  // namespace eventloom
