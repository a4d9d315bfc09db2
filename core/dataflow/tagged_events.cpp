#include "core/dataflow/tagged_events.hpp"

#include <algorithm>
#include <vector>

namespace eventloom {

namespace {

/// Whether the events are disjoint, in order, and no longer than the overlap.
bool plausible(std::span<const EventRange> events, std::span<const HitKey> keys, const SliceBounds& bounds) {
  std::uint32_t next = 0;
  for (const auto& event : events) {
    if (event.begin < next) return false;
    // An event that begins after the slice may extend beyond the data that the builder sees: it belongs to another
    // slice.
    const bool seen_whole = tick_of(keys[event.begin]) < bounds.slice_end;
    if (seen_whole && tick_of(keys[event.end - 1]) - tick_of(keys[event.begin]) > bounds.overlap) return false;
    next = event.end;
  }
  return true;
}

}  // namespace

bool take_tagged_events(const DecodedHits& hits, std::span<const HitKey> keys, const SliceBounds& bounds,
                        EventList& events) {
  events.restart(keys, bounds);
  std::vector<EventRange> tagged;
  for (const auto& [hit, tag] : hits.tags) {
    const HitKey first = make_key(hit < hits.size ? hits.tick_of_hit(hit) : 0, hit);
    const auto begin = static_cast<std::uint32_t>(std::ranges::lower_bound(keys, first) - keys.begin());
    if (begin == keys.size() || tag.n_hits == 0) return false;  // not written by a run
    const auto end = static_cast<std::uint32_t>(std::min<std::size_t>(std::size_t{begin} + tag.n_hits, keys.size()));
    tagged.push_back({begin, end, tag.truncated});
  }
  std::ranges::sort(tagged, {}, &EventRange::begin);
  if (!plausible(tagged, keys, bounds)) return false;
  for (const auto& event : tagged) {
    if (!events.add_run(event)) break;
  }
  return true;
}

}  // namespace eventloom
