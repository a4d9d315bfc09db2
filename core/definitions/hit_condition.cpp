#include "core/definitions/hit_condition.hpp"

#include <limits>
#include <span>
#include <utility>

#include "core/definitions/selected_windows.hpp"

namespace eventloom {

HitCondition::HitCondition(Expression condition, DetectorPtr detector)
    : condition_(std::move(condition)),
      detector_(std::move(detector)),
      groups_(*detector_, [](const ChannelInfo& info) { return info.groups; }) {}

/// The hit opens the windows of all terms: it lies in those that include time difference 0.
bool HitCondition::is_selected(const HitSelection& selection, const Hit& hit) const {
  if (selection.window && (selection.window->from > 0 || selection.window->to < 0)) return false;
  return selection.includes(hit.source, hit.channel, hit.groups, hit.value);
}

std::optional<std::uint64_t> HitCondition::value(const Quantity& quantity, const Hit& hit) const {
  using Kind = Quantity::Kind;
  const auto is_in = [&](std::uint64_t number) { return quantity.low <= number && number <= quantity.high ? 1 : 0; };
  switch (quantity.kind) {
    case Kind::channel: return is_in(hit.channel);
    case Kind::source: return is_in(hit.source);
    case Kind::group: return hit.groups >> quantity.group & 1U;
    case Kind::causal: return detector_->at(hit.source, hit.channel).position ? 1 : 0;
    case Kind::selected:
    case Kind::channels:
    case Kind::sum:
    case Kind::max:
    case Kind::order: {
      const SelectedHit selected{0, hit.source, hit.channel, hit.value};
      const auto hits = std::span(&selected, is_selected(quantity.hits, hit) ? 1 : 0);
      const auto later = std::span(&selected, is_selected(quantity.later, hit) ? 1 : 0);
      return value_of_selected(quantity.kind, hits, later);
    }
    default: return 1;  // number of hits, sources or systems
  }
}

bool HitCondition::holds(const SortedHits& hits, std::uint32_t number) const {
  Hit hit{hits.source[number], hits.channel[number], 0, std::numeric_limits<double>::quiet_NaN()};
  if (hit.source < groups_.sources()) hit.groups = groups_.of(hit.source)[hit.channel];
  if (!hits.value.empty()) hit.value = hits.value[number];
  return condition_.holds([&](std::size_t term) {
    const auto& of = condition_.terms()[term];
    const auto known = value(of.quantity, hit);
    return known && of.holds(*known);
  });
}

}  // namespace eventloom
