#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "core/definitions/definition_values.hpp"
#include "core/definitions/event_definition.hpp"
#include "core/definitions/key_distances.hpp"
#include "core/definitions/saturating.hpp"
#include "core/definitions/widened_events.hpp"

namespace eventloom {

/// gap:G,M[,pre,post] - a maximal run of hits in which each follows the previous one by at most G, with at least M
/// hits. With `pre` or `post`, all hits from `pre` before the first of a run to `post` after its last; such ranges are
/// joined if they share a tick. M applies to the whole run, also where the overlap cuts it.
class Gap final : public EventDefinition {
 public:
  static constexpr std::string_view kUsage = "gap:G,M[,pre,post]";
  static constexpr std::string_view kEvent =
      "a run of hits, each at most G after the previous one, with at least M >= 1 hits, and all hits from pre before "
      "to "
      "post after it";
  static constexpr std::size_t kMinValues = 2;
  static constexpr std::size_t kMaxValues = 4;

  Gap(Tick gap, std::uint64_t min_hits) : gap_(gap), min_hits_(min_hits) {}
  explicit Gap(const DefinitionValues& values)
      : gap_(values.duration(0)), min_hits_(values.above_0(values.count(1), 1, "M")), widening_(values.widening(2)) {}

  [[nodiscard]] std::string text() const override {
    return "gap:" + std::to_string(gap_.value) + "," + std::to_string(min_hits_) + widening_.text();
  }

  /// If runs are widened, an event begins with a run that lies ahead, and M hits decide whether that run counts.
  [[nodiscard]] DefinitionTraits traits() const override {
    const Tick run = widening_.any() ? saturating_product(gap_, min_hits_) : gap_;
    return {.reach = saturating_sum({run, widening_.pre, widening_.post}),
            .longest_length = std::max({gap_, widening_.pre, widening_.post}),
            .least_span = saturating_product(gap_, min_hits_ - 1),
            .bin_ticks = gap_};
  }

  void find(const SortedHits& hits, EventList& events) const override {
    const auto keys = hits.keys;
    if (keys.empty()) return;
    const auto n = static_cast<std::uint32_t>(keys.size());
    std::uint32_t* starts = events.scratch(2 * (keys.size() + 1 + kPositionsBehind));
    const std::uint32_t runs = find_run_starts(keys, gap_, starts);
    starts[runs] = n;
    const std::span<const std::uint32_t> all_starts(starts, runs + std::size_t{1});
    if (widening_.any()) return widen(keys, all_starts, events);
    std::uint32_t* numbers = starts + keys.size() + 1 + kPositionsBehind;
    events.add_runs(all_starts, {numbers, find_long_runs(all_starts, min_hits_, numbers)});
  }

 private:
  /// `starts`: the starts of the runs, and the end of the last.
  void widen(std::span<const HitKey> keys, std::span<const std::uint32_t> starts, EventList& events) const {
    WidenedEvents found(keys, widening_, events);
    for (std::size_t r = 0; r + 1 < starts.size(); ++r) {
      if (starts[r + 1] - starts[r] < min_hits_) continue;
      if (!found.add({starts[r], starts[r + 1]}, tick_of(keys[starts[r + 1] - 1]))) return;
    }
    found.finish();
  }

  Tick gap_ = 0;
  std::uint64_t min_hits_ = 1;
  Widening widening_;
};

}  // namespace eventloom
