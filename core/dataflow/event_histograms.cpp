#include "core/dataflow/event_histograms.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

/// Longer lists of hits are searched instead of combined one by one.
constexpr std::size_t kFewHits = 64;

bool includes(const HitSelection& selection, std::uint16_t source, std::uint32_t channel, GroupSet groups, double value,
              std::int64_t since) {
  if (!selection.is_in_window(since)) return false;
  return selection.includes(source, channel, groups, value);
}

}  // namespace

EventHistograms::EventHistograms(std::shared_ptr<const HistogramSet> set) : set_(std::move(set)) {
  for (const auto& spec : set_->specs()) {
    auto& places = places_.emplace_back();
    for (const auto& selection : spec.hits) {
      places.emplace_back();
      if (!selection) continue;
      const auto same = std::ranges::find(selected_, *selection, &Selected::selection);
      places.back() = static_cast<std::size_t>(same - selected_.begin());
      if (same == selected_.end()) selected_.push_back({*selection, false, {}});
    }
  }
}

void EventHistograms::add(const BuiltSlice& slice, std::span<std::uint64_t> cells) {
  add_cells(slice.filled, cells);
  if (!set_->has_any(false)) return;
  EventWalk walk(slice);
  for (EventHits event; walk.next(event);) {
    hits_.clear();
    for (auto& selected : selected_) selected.is_known = false;
    for (std::size_t i = 0; i < set_->specs().size(); ++i) {
      if (!set_->specs()[i].of_all_hits) add_event(i, event, cells);
    }
  }
}

void EventHistograms::add_event(std::size_t histogram, const EventHits& event, std::span<std::uint64_t> cells) {
  const auto& spec = set_->specs()[histogram];
  const auto& places = places_[histogram];
  if (spec.condition && !set_->measure().holds(*spec.condition, event)) return;
  if (places.empty()) return add_entry(histogram, event, {}, cells);
  if (hits_.empty()) look_at(event);
  const auto firsts = hits_of(places[0], event.time);
  if (places.size() == 1) {
    for (const auto& hit : firsts) add_entry(histogram, event, {&hit, nullptr}, cells);
    return;
  }
  const auto seconds = hits_of(places[1], event.time);
  const bool is_difference = spec.axes.size() == 1;
  if (is_difference && seconds.size() > kFewHits) return add_differences(histogram, firsts, seconds, cells);
  for (const auto& first : firsts) {
    for (const auto& second : seconds) {
      if (first.number != second.number) add_entry(histogram, event, {&first, &second}, cells);
    }
  }
}

/// Looks up what histograms need of the hits of an event.
void EventHistograms::look_at(const EventHits& event) {
  const auto& measure = set_->measure();
  std::size_t word = 0;
  for (std::size_t i = 0; i < event.times.size(); ++i) {
    const std::size_t n = event.payload_words.empty() ? 0 : event.payload_words[i];
    const auto source = event.sources[i];
    const auto channel = event.channels[i];
    hits_.push_back({static_cast<std::uint32_t>(i), channel, source, event.times[i], measure.groups_of(source, channel),
                     measure.value_of(source, channel, event.payload.subspan(word, n))});
    word += n;
  }
}

/// The result is in time order.
std::span<const EventHistograms::Hit> EventHistograms::hits_of(const std::optional<std::size_t>& selected,
                                                               Tick event_time) {
  if (!selected) return hits_;
  auto& [selection, is_known, hits] = selected_[*selected];
  if (is_known) return hits;
  is_known = true;
  hits.clear();
  for (const auto& hit : hits_) {
    const auto since = static_cast<std::int64_t>((hit.tick - event_time).value);
    if (includes(selection, hit.source, hit.channel, hit.groups, hit.value, since)) hits.push_back(hit);
  }
  return hits;
}

double EventHistograms::difference(const Hit& first, const Hit& second) {
  return static_cast<double>(static_cast<std::int64_t>((second.tick - first.tick).value));
}

/// Looks at each pair in the range of the axis only: long events have many others, which are counted together.
void EventHistograms::add_differences(std::size_t histogram, std::span<const Hit> firsts, std::span<const Hit> seconds,
                                      std::span<std::uint64_t> cells) const {
  const auto& axis = set_->specs()[histogram].axes[0];
  const auto below = *set_->cell(histogram, std::array{-HUGE_VAL});
  const auto above = *set_->cell(histogram, std::array{HUGE_VAL});
  for (const auto& first : firsts) {
    const auto at = [&](const Hit& second) { return set_->on_axis(axis, difference(first, second)); };
    const auto begin = std::ranges::lower_bound(seconds, axis.low, {}, at);
    const auto end = std::ranges::lower_bound(begin, seconds.end(), axis.high, {}, at);
    cells[below] += static_cast<std::uint64_t>(begin - seconds.begin());
    cells[above] += static_cast<std::uint64_t>(seconds.end() - end);
    for (auto second = begin; second != end; ++second) {
      if (first.number != second->number) ++cells[*set_->cell(histogram, std::array{at(*second)})];
    }
    // No pair of a hit with itself.
    const bool inside = axis.low <= 0 && 0 < axis.high;
    if (!inside && std::ranges::binary_search(seconds, first.number, {}, &Hit::number))
      --cells[axis.low > 0 ? below : above];
  }
}

void EventHistograms::add_entry(std::size_t histogram, const EventHits& event, EntryHits hits,
                                std::span<std::uint64_t> cells) const {
  using OfAxis = HistogramAxis::Quantity;
  const auto& axes = set_->specs()[histogram].axes;
  std::array<double, 2> at{};
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto& axis = axes[i];
    switch (axis.quantity) {
      case OfAxis::value: at[i] = hits[axis.hit]->value; break;
      case OfAxis::channel: at[i] = hits[axis.hit]->channel; break;
      case OfAxis::dt: at[i] = set_->on_axis(axis, difference(*hits[0], *hits[1])); break;
      case OfAxis::n_hits: at[i] = static_cast<double>(event.channels.size()); break;
      case OfAxis::duration: at[i] = set_->on_axis(axis, static_cast<double>(event.duration.value)); break;
      case OfAxis::time: at[i] = set_->on_axis(axis, static_cast<double>(event.time.value)); break;
    }
  }
  if (const auto cell = set_->cell(histogram, std::span(at).first(axes.size()))) ++cells[*cell];
}

}  // namespace eventloom
