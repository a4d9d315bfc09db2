#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions/definition_values.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/definitions/hit_condition.hpp"
#include "core/definitions/hit_search.hpp"
#include "core/definitions/saturating.hpp"
#include "core/definitions/widened_events.hpp"

namespace eventloom {

/// trigger:COND,pre,post - the window from `pre` before to `post` after each hit for which COND holds, evaluated on
/// that hit alone; windows that share a tick are one event.
class Trigger final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "trigger:COND,pre,post";
  static constexpr std::string_view kEvent =
      "the hits from pre before to post after a hit for which COND holds, an expression as in {}, evaluated on that "
      "hit "
      "alone";
  static constexpr std::size_t kMinValues = 3;
  static constexpr std::size_t kMaxValues = 3;

  explicit Trigger(const DefinitionValues& values)
      : condition_(values.condition(0), values.detector()), around_(values.widening(1)) {}

  [[nodiscard]] std::string text() const override {
    return "trigger:" + condition_.condition().meaning() + "," + std::to_string(around_.pre.value) + "," +
           std::to_string(around_.post.value);
  }
  [[nodiscard]] DefinitionTraits traits() const override {
    return {.reach = saturating_sum({around_.pre, around_.post}),
            .longest_length = std::max(around_.pre, around_.post),
            .bin_ticks = std::max<Tick>(std::max(around_.pre, around_.post), 1),
            .needs_channels = true,
            .condition = &condition_.condition()};
  }

  void find(const SortedHits& hits, EventList& events) const override {
    WidenedEvents found(hits.keys, around_, events);
    for (std::uint32_t i = 0; i < hits.keys.size(); ++i) {
      if (!condition_.holds(hits, number_of(hits.keys[i]))) continue;
      const Tick tick = tick_of(hits.keys[i]);  // its hits are in the window even if pre and post are 0
      const EventRange window{seek_backward(hits.keys, i, tick), seek_forward(hits.keys, i, tick + 1)};
      if (!found.add(window, tick)) return;
    }
    found.finish();
  }

 private:
  HitCondition condition_;
  Widening around_;
};

}  // namespace eventloom
