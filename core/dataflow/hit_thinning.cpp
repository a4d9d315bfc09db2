#include "core/dataflow/hit_thinning.hpp"

#include <algorithm>

namespace eventloom {

HitThinning::HitThinning(const SliceBuilderSettings& settings)
    : stretch_(settings.stretch),
      dead_times_(*settings.detector, [](const ChannelInfo& info) { return info.dead_time; }),
      has_dead_times_(settings.detector->longest_dead_time() > 0) {}

bool HitThinning::is_needed(const SliceBuilderSettings& settings) {
  return settings.stretch != kAllTime || settings.detector->longest_dead_time() > 0;
}

std::span<const HitKey> HitThinning::thin(const DecodedHits& hits, std::span<const HitKey> keys,
                                          const SliceBounds& bounds, RemovedHits& removed) {
  bounds_ = bounds;
  removed_ = &removed;
  n_removed_ = 0;
  keys = within_stretch(hits, keys);
  return has_dead_times_ ? without_dead(hits, keys) : keys;
}

void HitThinning::remove(const DecodedHits& hits, HitKey key, DropCause cause) {
  const Tick tick = tick_of(key);
  if (tick < bounds_.slice_begin || tick >= bounds_.slice_end) return;
  removed_->remove(hits.source.data()[number_of(key)], static_cast<std::int64_t>(tick.value), cause);
  ++n_removed_;
}

std::span<const HitKey> HitThinning::within_stretch(const DecodedHits& hits, std::span<const HitKey> keys) {
  const auto from =
      std::ranges::partition_point(keys, [this](HitKey key) { return bounds_.start + tick_of(key) < stretch_.begin; });
  const auto to =
      std::ranges::partition_point(keys, [this](HitKey key) { return bounds_.start + tick_of(key) < stretch_.end; });
  for (auto at = keys.begin(); at != from; ++at) remove(hits, *at, DropCause::outside_stretch);
  for (auto at = to; at != keys.end(); ++at) remove(hits, *at, DropCause::outside_stretch);
  return {from, to};
}

std::span<const HitKey> HitThinning::without_dead(const DecodedHits& hits, std::span<const HitKey> keys) {
  channels_.clear();
  kept_.clear();
  const auto dead_times = dead_times_.of_sources();
  for (const HitKey key : keys) {
    const auto source = hits.source.data()[number_of(key)];
    const auto channel = hits.channel.data()[number_of(key)];
    const Tick dead = dead_times[source][channel];
    const auto place = std::uint64_t{source} << 32 | channel;
    if (dead == 0 || channels_[place].take(bounds_.start + tick_of(key), dead)) {
      kept_.push_back(key);
    } else {
      remove(hits, key, DropCause::dead_time);
    }
  }
  return kept_;
}

}  // namespace eventloom
