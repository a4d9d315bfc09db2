#include "core/dataflow/unplaced_hits.hpp"

#include "formats/pixel.hpp"

namespace eventloom {

UnplacedCounter::UnplacedCounter(const DetectorPtr& detector)
    : pixels_(!detector->has_positions()),
      placed_(*detector, [](const ChannelInfo& info) { return std::uint8_t{info.position.has_value()}; }),
      of_sources_(placed_.of_sources()) {}

void UnplacedCounter::count(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds) {
  const auto before = [](Tick tick) { return [tick](HitKey key) { return tick_of(key) < tick; }; };
  const auto first = std::ranges::partition_point(keys, before(bounds.slice_begin));
  const auto end = std::ranges::partition_point(keys, before(bounds.slice_end));
  for (auto at = first; at != end; ++at) {
    const auto number = number_of(*at);
    const std::uint16_t source = hits.source.data()[number];
    const std::uint32_t channel = hits.channel.data()[number];
    if (pixels_ ? pixel_of(channel).has_value() : source < of_sources_.size() && of_sources_[source][channel] != 0)
      continue;
    if (source >= unplaced_.size()) unplaced_.resize(source + std::size_t{1});
    unplaced_[source].add({1, channel, channel});
  }
}

void UnplacedCounter::add_to(UnplacedHits& unplaced) const {
  for (std::uint32_t source = 0; source < unplaced_.size(); ++source) {
    if (unplaced_[source].hits != 0) unplaced[source].add(unplaced_[source]);
  }
}

}  // namespace eventloom
