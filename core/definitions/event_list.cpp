#include "core/definitions/event_list.hpp"

#include "core/definitions/hit_search.hpp"

namespace eventloom {

void EventList::restart(std::span<const HitKey> sorted, const SliceBounds& bounds) {
  sorted_ = sorted;
  bounds_ = bounds;
  events_.clear();
  copies_.clear();
}

void EventList::add_runs(std::span<const std::uint32_t> starts, std::span<const std::uint32_t> numbers) {
  const std::size_t before = events_.size();
  events_.resize(before + numbers.size());
  EventRange* next = events_.data() + before;
  for (const std::uint32_t number : numbers) {
    *next = {starts[number], starts[number + 1]};
    if (tick_of(sorted_[next->begin]) >= bounds_.slice_end) break;
    next += fits(sorted_, *next) ? 1 : 0;
  }
  events_.resize(static_cast<std::size_t>(next - events_.data()));
}

bool EventList::add_list(std::span<const HitKey> hits) {
  const auto begin = static_cast<std::uint32_t>(copies_.size());
  copies_.insert(copies_.end(), hits.begin(), hits.end());
  const bool more = add(copies_, {begin, static_cast<std::uint32_t>(copies_.size())});
  copies_.resize(events_.empty() ? 0 : events_.back().end);
  return more;
}

void EventList::take_list(std::span<const HitKey> hits, bool truncated) {
  const auto begin = static_cast<std::uint32_t>(copies_.size());
  copies_.insert(copies_.end(), hits.begin(), hits.end());
  events_.push_back({begin, static_cast<std::uint32_t>(copies_.size()), truncated});
}

void EventList::cut(std::span<const HitKey> hits, EventRange& event) const {
  event.truncated = true;
  event.end = seek_forward(hits.first(event.end), event.begin, tick_of(hits[event.begin]) + bounds_.overlap + 1);
}

/// An event that starts so early that its true start may precede the builder's data ends before the slice.
bool EventList::reaches_slice(std::span<const HitKey> hits, const EventRange& event) const {
  const std::uint32_t inside = seek_forward(hits.first(event.end), event.begin, bounds_.slice_begin);
  return inside < event.end && tick_of(hits[inside]) < bounds_.slice_end;
}

}  // namespace eventloom
