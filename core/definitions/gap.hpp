#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "core/definitions/event_definition.hpp"
#include "formats/units.hpp"

namespace eventloom {

/// gap:G,M - a maximal run of hits in which each follows the previous one by at most G; kept with at least M hits.
class Gap final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "gap:G,M";
  static constexpr std::string_view kEvent =
      "a run of hits, each at most G after the previous one, with at least M >= 1 hits";

  Gap(Tick gap, std::uint64_t min_hits) : gap_(gap), min_hits_(min_hits) {}
  Gap(std::span<const std::string_view> values, std::uint64_t tick_ps) {
    if (values.size() != 2) throw std::invalid_argument("gap takes two values");
    gap_ = parse_duration(values[0], tick_ps);
    min_hits_ = parse_count(values[1]);
    if (min_hits_ < 1) throw std::invalid_argument("M is 0");
  }

  [[nodiscard]] std::string text() const override {
    return "gap:" + std::to_string(gap_) + "," + std::to_string(min_hits_);
  }

  [[nodiscard]] DefinitionTraits traits() const override {
    return {.reach = gap_, .longest_length = gap_, .bin_ticks = gap_};
  }

  void find(const SortedHits& hits, EventList& events) const override {
    // The starts of runs and the runs that are long enough are collected without branches: in real data neither can be
    // predicted.
    const auto keys = hits.keys;
    if (keys.empty()) return;
    const Tick gap = gap_;
    const auto n = static_cast<std::uint32_t>(keys.size());
    std::uint32_t* starts = events.scratch(keys.size() + 1);
    std::uint32_t runs = 1;
    starts[0] = 0;
    for (std::uint32_t i = 1; i < n; ++i) {
      starts[runs] = i;
      runs += static_cast<std::uint32_t>(tick_of(keys[i]) - tick_of(keys[i - 1]) > gap);
    }
    starts[runs] = n;
    for (std::uint32_t r = 0; r < runs; ++r) {
      if (starts[r + 1] - starts[r] < min_hits_) continue;
      if (!events.add_run({starts[r], starts[r + 1]}, min_hits_)) break;
    }
  }

 private:
  Tick gap_ = 0;
  std::uint64_t min_hits_ = 1;
};

}  // namespace eventloom
