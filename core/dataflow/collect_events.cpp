#include "core/dataflow/collect_events.hpp"

#include <algorithm>

namespace eventloom {

namespace {

/// Position of the first hit not before `tick`, which is relative like those of the keys.
std::uint32_t position_of(std::span<const HitKey> keys, Tick tick) {
  const auto at = std::ranges::partition_point(keys, [tick](HitKey key) { return tick_of(key) < tick; });
  return static_cast<std::uint32_t>(at - keys.begin());
}

/// Number of an event's hits that lie in the slice.
std::uint32_t count_inside(std::span<const HitKey> event, const SliceBounds& bounds) {
  const bool whole = tick_of(event.front()) >= bounds.slice_begin && tick_of(event.back()) < bounds.slice_end;
  if (whole) return static_cast<std::uint32_t>(event.size());
  return position_of(event, bounds.slice_end) - position_of(event, bounds.slice_begin);
}

void fill_events(const EventList& list, const SliceBounds& bounds, BuiltSlice& out) {
  const auto events = list.events();
  const auto all = list.hits();
  auto& columns = out.events;
  columns.time.resize(events.size());
  columns.duration.resize(events.size());
  columns.n_hits.resize(events.size());
  columns.flags.resize(events.size());
  columns.sources_missing.assign(events.size(), 0);
  columns.hits_in_slice.resize(events.size());
  columns.owned.resize(events.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto [begin, end, truncated] = events[i];
    const auto hits = all.subspan(begin, end - begin);
    const Tick first = tick_of(hits.front());
    const std::uint32_t inside = count_inside(hits, bounds);
    columns.time[i] = bounds.start + first;
    columns.duration[i] = tick_of(hits.back()) - first;
    columns.n_hits[i] = end - begin;
    columns.flags[i] = truncated ? kTruncated : 0U;
    columns.hits_in_slice[i] = inside;
    columns.owned[i] = first >= bounds.slice_begin ? 1 : 0;
    out.ledger.hits_in_events += inside;
  }
}

}  // namespace

void EventCollector::join_events(std::span<const EventRange> events) {
  blocks_.clear();
  for (const auto& event : events) {
    if (!blocks_.empty() && blocks_.back().end == event.begin) {
      blocks_.back().end = event.end;
    } else {
      blocks_.push_back({event.begin, event.end});
    }
  }
}

void EventCollector::collect(const DecodedHits& hits, std::span<const HitKey> keys, const EventList& events,
                             const SliceBounds& bounds, bool with_payload, BuiltSlice& out) {
  fill_events(events, bounds, out);
  out.ledger.hits_outside =
      position_of(keys, bounds.slice_end) - position_of(keys, bounds.slice_begin) - out.ledger.hits_in_events;
  join_events(events.events());
  std::size_t n = 0;
  for (const auto& block : blocks_) n += block.end - block.begin;
  const auto resize = [&](std::size_t size) {
    out.hits.time.resize(size);
    out.hits.channel.resize(size);
    out.hits.source.resize(size);
  };
  resize(n + kHitsBehind);
  copy_hits(events.hits(), blocks_, {hits.channel.data(), hits.source.data()}, bounds.start,
            {out.hits.time.data(), out.hits.channel.data(), out.hits.source.data()});
  resize(n);
  out.hits.payload_words.clear();
  out.hits.payload.clear();
  if (!with_payload) return;
  for (const auto& block : blocks_) {
    for (const HitKey key : events.hits().subspan(block.begin, block.end - block.begin)) {
      const std::uint32_t words = hits.payload_words.data()[number_of(key)];
      const std::uint32_t* payload = hits.payload.data()[number_of(key)];
      out.hits.payload_words.push_back(words);
      if (words != 0) out.hits.payload.insert(out.hits.payload.end(), payload, payload + words);
    }
  }
}

}  // namespace eventloom
