#include "app/document/group_counts.hpp"

namespace eventloom {

void GroupCounts::add(std::span<const std::uint16_t> sources, std::span<const std::uint32_t> channels) {
  for (std::size_t i = 0; i < sources.size(); ++i) add(sources[i], channels[i], 1);
}

GroupHits GroupCounts::hits() const {
  const auto& ranges = known_->ranges();
  GroupHits hits{std::vector<std::uint64_t>(known_->groups().size()), of_range_.back()};
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const auto groups = known_->groups_of(ranges[i]);
    for (const auto group : groups) hits.of_group[group] += of_range_[i];
    if (groups.empty()) hits.of_none += of_range_[i];
  }
  return hits;
}

}  // namespace eventloom
