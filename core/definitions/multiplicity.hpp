#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include "core/definitions/definition_values.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/definitions/hit_search.hpp"
#include "core/definitions/key_distances.hpp"

namespace eventloom {

/// multiplicity:W,T[,pre,post] - bins [kW, (k+1)W) from tick 0; maximal runs of consecutive bins with at least T hits,
/// widened by `pre` and `post` bins; widened runs that touch are one event.
class Multiplicity final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "multiplicity:W,T[,pre,post]";
  static constexpr std::string_view kEvent =
      "consecutive bins of width W >= 1 with at least T >= 1 hits each, widened by pre and post bins";

  static constexpr std::size_t kMinValues = 2;
  static constexpr std::size_t kMaxValues = 4;

  explicit Multiplicity(const DefinitionValues& values)
      : width_(values.above_0(values.duration(0), 0, "W")),
        threshold_(values.above_0(values.count(1), 1, "T")),
        pre_(values.count_or(0, 2)),
        post_(values.count_or(0, 3)) {}

  [[nodiscard]] std::string text() const override {
    return "multiplicity:" + std::to_string(width_.value) + "," + std::to_string(threshold_) + "," +
           std::to_string(pre_) + "," + std::to_string(post_);
  }

  [[nodiscard]] DefinitionTraits traits() const override {
    constexpr auto kMaxBins = std::numeric_limits<std::uint64_t>::max();
    const bool fits = pre_ <= kMaxBins - 2 && post_ <= kMaxBins - 2 - pre_;
    return {.reach = fits ? ticks_of(pre_ + post_ + 2) : kMax,
            .longest_length = ticks_of(std::max({pre_, post_, std::uint64_t{1}})),
            .bin_ticks = width_};
  }

  void find(const SortedHits& hits, EventList& events) const override {
    const auto keys = hits.keys;
    if (threshold_ > keys.size()) return;
    const auto others = static_cast<std::uint32_t>(threshold_ - 1);
    std::uint32_t* const candidates = events.scratch(keys.size() + kPositionsBehind);
    const std::uint32_t n = find_close(keys, others, width_ - 1, candidates);
    const std::uint64_t bridge = pre_ + post_ + 1;
    Group group;
    std::uint32_t next = 0;  // the first hit of the next bin
    for (const std::uint32_t first : std::span(candidates, n)) {
      if (first < next) continue;
      const std::uint64_t bin = (hits.start + tick_of(keys[first])) / width_;
      const Tick bin_end = (bin + 1) * width_ - hits.start;
      const bool hot = tick_of(keys[first + others]) < bin_end;
      next = seek_forward(keys, hot ? first + others + 1 : first + 1, bin_end);
      if (!hot) continue;
      if (group.hits.end != 0 && bin - group.last_bin > bridge) add(hits, std::exchange(group, {}), events);
      if (group.hits.end == 0) group = {bin, bin, {first}};
      group.last_bin = bin;
      group.hits.end = next;
    }
    if (group.hits.end != 0) add(hits, group, events);
  }

 private:
  static constexpr Tick kMax = std::numeric_limits<Tick>::max();

  /// Bins with enough hits that form one event.
  struct Group {
    std::uint64_t first_bin = 0;
    std::uint64_t last_bin = 0;
    EventRange hits = {};  ///< empty if there is no group
  };

  /// The length of this many bins, or the maximum if that overflows.
  [[nodiscard]] Tick ticks_of(std::uint64_t bins) const { return width_ > kMax / bins ? kMax : bins * width_; }

  /// Adds the event around the group.
  void add(const SortedHits& hits, const Group& group, EventList& events) const {
    const Tick low = (group.first_bin - std::min(group.first_bin, pre_)) * width_;
    const Tick high = (group.last_bin + post_ + 1) * width_;
    events.add_run({seek_backward(hits.keys, group.hits.begin, low - std::min(low, hits.start)),
                    seek_forward(hits.keys, group.hits.end, high - hits.start)});
  }

  Tick width_ = 1;
  std::uint64_t threshold_ = 1;
  std::uint64_t pre_ = 0;
  std::uint64_t post_ = 0;
};

}  // namespace eventloom
