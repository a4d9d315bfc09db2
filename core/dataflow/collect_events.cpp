#include "core/dataflow/collect_events.hpp"

#include <algorithm>

namespace eventloom {

namespace {

/// Position of the first hit not before `tick`, a tick relative to the window.
std::uint32_t position_of(std::span<const HitKey> keys, std::uint64_t tick) {
  const auto at = std::ranges::partition_point(keys, [tick](HitKey key) { return tick_of(key) < tick; });
  return static_cast<std::uint32_t>(at - keys.begin());
}

void fill_events(std::span<const HitKey> keys, std::span<const EventRange> events, const DefineWindow& window,
                 BuiltSlice& out) {
  const std::uint32_t slice_begin = position_of(keys, window.slice_begin);
  const std::uint32_t slice_end = position_of(keys, window.slice_end);
  auto& columns = out.events;
  columns.time.resize(events.size());
  columns.duration.resize(events.size());
  columns.n_hits.resize(events.size());
  columns.flags.resize(events.size());
  columns.sources_missing.assign(events.size(), 0);
  columns.hits_in_slice.resize(events.size());
  columns.owned.resize(events.size());
  std::uint32_t next = slice_begin;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const auto [begin, end, truncated] = events[i];
    const std::uint32_t first = tick_of(keys[begin]);
    const std::uint32_t inside_begin = std::max(begin, slice_begin);
    const std::uint32_t inside_end = std::min(end, slice_end);
    columns.time[i] = window.start + first;
    columns.duration[i] = tick_of(keys[end - 1]) - first;
    columns.n_hits[i] = end - begin;
    columns.flags[i] = truncated ? kTruncated : 0U;
    columns.hits_in_slice[i] = inside_end - inside_begin;
    columns.owned[i] = begin >= slice_begin ? 1 : 0;
    out.ledger.hits_in_events += inside_end - inside_begin;
    out.ledger.hits_outside += inside_begin - next;
    next = inside_end;
  }
  out.ledger.hits_outside += slice_end - next;
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

void EventCollector::collect(const DecodedHits& hits, std::span<const HitKey> keys, std::span<const EventRange> events,
                             const DefineWindow& window, bool with_payload, BuiltSlice& out) {
  fill_events(keys, events, window, out);
  join_events(events);
  std::size_t n = 0;
  for (const auto& block : blocks_) n += block.end - block.begin;
  out.hits.time.resize(n);
  out.hits.channel.resize(n);
  out.hits.source.resize(n);
  out.hits.payload_words.clear();
  out.hits.payload.clear();
  const std::uint32_t* channels = hits.channel.data();
  const std::uint16_t* sources = hits.source.data();
  Tick* time = out.hits.time.data();
  std::uint32_t* channel = out.hits.channel.data();
  std::uint16_t* source = out.hits.source.data();
  for (const auto& block : blocks_) {
    for (const HitKey key : keys.subspan(block.begin, block.end - block.begin)) {
      *time++ = window.start + tick_of(key);
      *channel++ = channels[number_of(key)];
      *source++ = sources[number_of(key)];
    }
  }
  if (!with_payload) return;
  for (const auto& block : blocks_) {
    for (const HitKey key : keys.subspan(block.begin, block.end - block.begin)) {
      const std::uint32_t words = hits.payload_words.data()[number_of(key)];
      const std::uint32_t* payload = hits.payload.data()[number_of(key)];
      out.hits.payload_words.push_back(words);
      if (words != 0) out.hits.payload.insert(out.hits.payload.end(), payload, payload + words);
    }
  }
}

}  // namespace eventloom
