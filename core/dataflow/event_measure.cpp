#include "core/dataflow/event_measure.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>

#include "core/definitions/causal_set.hpp"
#include "core/definitions/selected_windows.hpp"
#include "formats/hash.hpp"
#include "formats/stream_file.hpp"

namespace eventloom {

namespace {

template <class T>
std::uint64_t count_inside(std::span<const T> values, const Quantity& range) {
  const auto inside = [&](T value) { return range.low <= value && value <= range.high; };
  return static_cast<std::uint64_t>(std::ranges::count_if(values, inside));
}

std::uint64_t count_systems(std::span<const std::uint32_t> channels) {
  std::uint64_t seen = 0;
  for (const auto channel : channels) seen |= std::uint64_t{1} << (channel >> 22 & 0x3fU);
  return static_cast<std::uint64_t>(std::popcount(seen));
}

std::uint64_t count_sources(std::span<const std::uint16_t> sources) {
  std::vector<std::uint16_t> seen(sources.begin(), sources.end());
  std::ranges::sort(seen);
  return static_cast<std::uint64_t>(std::unique(seen.begin(), seen.end()) - seen.begin());
}

}  // namespace

EventMeasure::EventMeasure(DetectorPtr detector)
    : detector_(std::move(detector)),
      groups_(
          std::make_shared<ChannelTable<GroupSet>>(*detector_, [](const ChannelInfo& info) { return info.groups; })),
      values_(std::make_shared<ValueTable>(*detector_)) {}

void EventMeasure::set_streams(std::vector<std::uint32_t> stream_flags) {
  flags_ = std::move(stream_flags);
  values_ = std::make_shared<ValueTable>(*detector_, first_payload_kinds(flags_));
}

bool EventMeasure::has_triggers() const {
  return std::ranges::any_of(flags_, [](std::uint32_t flags) { return (flags & kTriggerInPayload) != 0; });
}

std::optional<std::uint64_t> EventMeasure::value(const Quantity& quantity, const EventHits& event) const {
  switch (quantity.kind) {
    case Quantity::Kind::n_hits: return event.channels.size();
    case Quantity::Kind::duration: return event.duration.value;
    case Quantity::Kind::systems: return count_systems(event.channels);
    case Quantity::Kind::sources: return count_sources(event.sources);
    case Quantity::Kind::channel: return count_inside(event.channels, quantity);
    case Quantity::Kind::source: return count_inside(event.sources, quantity);
    case Quantity::Kind::group: return hits_in_group(quantity.group, event);
    case Quantity::Kind::trigger: return trigger(event);
    case Quantity::Kind::prescale: return splitmix64(event.time.value) % quantity.low;
    case Quantity::Kind::causal: return causal(quantity, event);
    default: return selected(quantity, event);
  }
}

std::uint64_t EventMeasure::hits_in_group(std::size_t group, const EventHits& event) const {
  std::uint64_t n = 0;
  for (std::size_t i = 0; i < event.channels.size(); ++i)
    n += groups_of(event.sources[i], event.channels[i]) >> group & 1U;
  return n;
}

/// Trigger type of the first hit that has one: the sources of an event agree on it, see NumberMatch.
std::optional<std::uint64_t> EventMeasure::trigger(const EventHits& event) const {
  std::size_t word = 0;
  for (std::size_t i = 0; i < event.payload_words.size(); ++i) {
    const bool reports = event.sources[i] < flags_.size() && (flags_[event.sources[i]] & kTriggerInPayload) != 0;
    if (reports && event.payload_words[i] > 1) return event.payload[word + 1] >> 16;
    word += event.payload_words[i];
  }
  return std::nullopt;
}

std::optional<std::uint64_t> EventMeasure::selected(const Quantity& quantity, const EventHits& event) const {
  const auto hits = select(quantity.hits, event);
  const bool two = quantity.kind == Quantity::Kind::order;
  return value_of_selected(quantity.kind, hits, two ? select(quantity.later, event) : std::vector<SelectedHit>());
}

/// Returns hits in time order. The window of the selection lies around the first hit of the event.
std::vector<SelectedHit> EventMeasure::select(const HitSelection& selection, const EventHits& event) const {
  std::vector<SelectedHit> hits;
  std::size_t word = 0;
  for (std::size_t i = 0; i < event.times.size(); ++i) {
    const std::size_t n = event.payload_words.empty() ? 0 : event.payload_words[i];
    const auto payload = event.payload.subspan(word, n);
    word += n;
    const auto since = static_cast<std::int64_t>(event.times[i] - event.time);
    if (!selection.is_in_window(since)) continue;
    const auto source = event.sources[i];
    const auto channel = event.channels[i];
    if (includes(selection, source, channel, payload))
      hits.push_back({event.times[i], source, channel, value_of(source, channel, payload)});
  }
  return hits;
}

std::uint64_t EventMeasure::causal(const Quantity& quantity, const EventHits& event) const {
  std::vector<PlacedHit> hits;
  for (std::size_t i = 0; i < event.times.size(); ++i) {
    const auto& place = detector_->at(event.sources[i], event.channels[i]).position;
    if (place) hits.push_back({event.times[i], *place});
  }
  return causal_set_size(hits, quantity.speed, quantity.slack);
}

}  // namespace eventloom
