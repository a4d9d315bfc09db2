#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/definitions/definition_values.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/definitions/hit_search.hpp"

namespace eventloom {

/// fixed:L - the hits of each bin [kL, (k+1)L) from tick 0 are an event.
class Fixed final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "fixed:L";
  static constexpr std::string_view kEvent = "the hits of a bin of length L >= 1; bins begin at tick 0";
  static constexpr std::size_t kMinValues = 1;
  static constexpr std::size_t kMaxValues = 1;

  explicit Fixed(const DefinitionValues& values) : length_(values.above_0(values.duration(0), 0, "L")) {}

  [[nodiscard]] std::string text() const override { return "fixed:" + std::to_string(length_.value); }
  [[nodiscard]] DefinitionTraits traits() const override {
    return {.reach = length_, .longest_length = length_, .bin_ticks = length_};
  }

  void find(const SortedHits& hits, EventList& events) const override {
    const auto n = static_cast<std::uint32_t>(hits.keys.size());
    for (std::uint32_t begin = 0; begin < n;) {
      const Tick time = hits.start + tick_of(hits.keys[begin]);
      const Tick left = length_ - time % length_;  // up to the end of the bin
      const std::uint32_t end = seek_forward(hits.keys, begin, tick_of(hits.keys[begin]) + left);
      if (!events.add_run({begin, end})) return;
      begin = end;
    }
  }

 private:
  Tick length_;
};

}  // namespace eventloom
