#include "core/dataflow/live_hits.hpp"

namespace eventloom {

namespace {

void add_decoded(const SliceHits& slice, std::vector<std::uint64_t>& hits) {
  const Tick begin = slice.bounds.slice_begin;
  const Tick end = slice.bounds.slice_end;
  if (slice.removed == nullptr) {
    for (std::size_t s = 0; s < hits.size(); ++s) hits[s] += slice.decoded.count_of(s, begin, end);
    return;
  }
  const auto* sources = slice.decoded.source.data();
  for (const HitKey key : slice.keys) {
    const auto source = sources[number_of(key)];
    if (tick_of(key) >= begin && tick_of(key) < end && source < hits.size()) ++hits[source];
  }
  for (std::size_t s = 0; s < hits.size(); ++s) hits[s] += slice.removed->of(s);
}

}  // namespace

std::vector<SourceHits> count_live_hits(const SliceHits& slice, EpochRange owned,
                                        const std::vector<std::uint8_t>& live) {
  std::vector<SourceHits> found;
  if (live.empty()) return found;
  std::vector<std::uint64_t> hits(live.size());
  add_decoded(slice, hits);
  for (const auto& [source, damage] : slice.damage) {
    if (owned.contains(damage.first_epoch) && source.value < hits.size()) hits[source.value] += damage.n_hits;
  }
  for (std::uint32_t s = 0; s < live.size(); ++s) {
    if (live[s] != 0 && hits[s] != 0) found.push_back({.source = s, .n_hits = hits[s]});
  }
  return found;
}

}  // namespace eventloom
