#include "core/definitions/coincidence.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/definitions/key_distances.hpp"
#include "core/definitions/saturating.hpp"

namespace eventloom {

namespace {

WindowPlan parse_plan(std::string_view text, const DefinitionValues& values) {
  return parse_part(text, [&](auto) { return WindowPlan(values.condition(1), values.detector()); });
}

}  // namespace

Coincidence::Coincidence(const DefinitionValues& values)
    : window_(values.duration(0)), plan_(parse_plan(values.text(1), values)), widening_(values.widening(2)) {}

std::string Coincidence::text() const {
  return "coincidence:" + std::to_string(window_.value) + "," + plan_.condition().meaning() + widening_.text();
}

/// `pre` and `post`, and what the windows of terms add to the window [t, t + W].
Widening Coincidence::around_windows() const {
  const auto [from, to] = plan_.condition().windows();
  const auto before = static_cast<Tick>(-from);
  const auto after = std::max(static_cast<Tick>(to), window_) - window_;
  return {saturating_sum({widening_.pre, before}), saturating_sum({widening_.post, after})};
}

/// The reach extends from the hits of an event to the window that links it to another, and to the ends of that window.
DefinitionTraits Coincidence::traits() const {
  const auto& condition = plan_.condition();
  const auto around = around_windows();
  const Tick before = around.pre - widening_.pre;
  const Tick after = around.post - widening_.post;
  return {.reach = saturating_sum({window_, window_, before, after, around.pre, around.post}),
          .longest_length = std::max({window_ + after, before, widening_.pre, widening_.post}),
          .bin_ticks = std::max<Tick>(window_, 1),
          .needs_channels = true,
          .condition = &condition};
}

void Coincidence::find(const SortedHits& hits, EventList& events) const {
  const auto keys = hits.keys;
  const auto n_hits = keys.size();
  std::uint32_t* begins = events.scratch(2 * n_hits + kPositionsBehind + WindowCounts::room(plan_, n_hits));
  std::uint32_t* ends = begins + n_hits + kPositionsBehind;
  WindowCounts window(plan_, hits, ends + n_hits);
  const std::uint32_t n = find_accepted(keys, window, find_candidates(keys, begins), begins, ends);
  WidenedEvents found(keys, around_windows(), events);
  for (std::uint32_t a = 0; a < n; ++a) {
    if (!found.add({begins[a], ends[a]}, tick_of(keys[begins[a]]) + window_)) return;
  }
  found.finish();
}

/// Keeps only those of the `n` candidates in `begins` whose windows are accepted, one per tick, and puts the ends of
/// these windows into `ends`; returns their number.
std::uint32_t Coincidence::find_accepted(std::span<const HitKey> keys, WindowCounts& window, std::uint32_t n,
                                         std::uint32_t* begins, std::uint32_t* ends) const {
  const auto accepts = [&](auto plain) {
    auto before = std::numeric_limits<Tick>::max();
    std::uint32_t accepted = 0;
    for (std::uint32_t c = 0; c < n; ++c) {
      const std::uint32_t first = begins[c];
      const Tick last = tick_of(keys[first]) + window_;
      if (last == std::exchange(before, last)) continue;  // the first of several hits at one tick opens the window
      const bool holds = window.accepts<decltype(plain)::value>(first, last);
      begins[accepted] = first;
      ends[accepted] = window.end();
      accepted += holds ? 1 : 0;
    }
    return accepted;
  };
  return window.plain() ? accepts(std::true_type()) : accepts(std::false_type());
}

/// Finds the hits that open windows with enough hits; returns their number. Includes the first of several hits at one
/// tick if any of them qualifies.
std::uint32_t Coincidence::find_candidates(std::span<const HitKey> keys, std::uint32_t* candidates) const {
  return find_close(keys, static_cast<std::size_t>(plan_.min_hits() - 1), window_, candidates);
}

}  // namespace eventloom
