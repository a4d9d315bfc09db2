#include "core/definitions/selected_windows.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

std::optional<std::uint64_t> key_of(std::optional<double> number) {
  if (!number || std::isnan(*number)) return std::nullopt;
  return real_key(*number);
}

}  // namespace

std::optional<std::uint64_t> value_of_selected(Quantity::Kind kind, std::span<const SelectedHit> hits,
                                               std::span<const SelectedHit> later) {
  switch (kind) {
    case Quantity::Kind::channels: return count_channels(hits);
    case Quantity::Kind::sum: return key_of(sum_of_values(hits));
    case Quantity::Kind::max: return key_of(largest_value(hits));
    case Quantity::Kind::order: return in_order(hits, later) ? 1 : 0;
    default: return hits.size();
  }
}

SelectedWindows::SelectedWindows(const Expression& condition, const ChannelTable<GroupSet>& groups,
                                 const SortedHits& hits) {
  for (const auto& term : condition.terms()) {
    const auto& quantity = term.quantity;
    Measured measured{quantity.kind};
    if (quantity.selects()) measured.hits = place_of(quantity.hits);
    if (quantity.kind == Quantity::Kind::order) measured.later = place_of(quantity.later);
    measured_.push_back(measured);
  }
  select(groups, hits);
}

std::size_t SelectedWindows::place_of(const HitSelection& selection) {
  const auto known = std::ranges::find(selected_, selection, &Selected::selection);
  const auto place = static_cast<std::size_t>(known - selected_.begin());
  if (known == selected_.end()) selected_.push_back({selection, {}});
  return place;
}

void SelectedWindows::select(const ChannelTable<GroupSet>& groups, const SortedHits& hits) {
  const auto of_source = groups.of_sources();
  for (const HitKey key : hits.keys) {
    const auto number = number_of(key);
    SelectedHit hit{tick_of(key), hits.source[number], hits.channel[number],
                    hits.value.empty() ? std::numeric_limits<double>::quiet_NaN() : hits.value[number]};
    const GroupSet in = hit.source < of_source.size() ? of_source[hit.source][hit.channel] : 0;
    for (auto& selected : selected_) {
      if (selected.selection.includes(hit.source, hit.channel, in, hit.value)) selected.hits.push_back(hit);
    }
  }
}

void SelectedWindows::move(Tick opening, Tick last) {
  constexpr Tick kLatest(std::numeric_limits<std::int64_t>::max());
  for (auto& [selection, hits, begin, end] : selected_) {
    const auto at = static_cast<std::int64_t>(opening);
    const auto from = selection.window ? at + selection.window->from : at;
    const auto to = selection.window ? at + selection.window->to : static_cast<std::int64_t>(std::min(last, kLatest));
    while (end < hits.size() && static_cast<std::int64_t>(hits[end].tick) <= to) ++end;
    while (begin < end && static_cast<std::int64_t>(hits[begin].tick) < from) ++begin;
  }
}

std::optional<std::uint64_t> SelectedWindows::value(std::size_t term) const {
  const auto& [kind, hits, later] = measured_[term];
  return value_of_selected(kind, selected_[hits].now(),
                           later == kNone ? std::span<const SelectedHit>() : selected_[later].now());
}

}  // namespace eventloom
