#include "core/dataflow/damage_account.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace eventloom {

namespace {

constexpr Tick kMaxTick = std::numeric_limits<Tick>::max();

constexpr Tick saturating_add(Tick a, Tick b) { return a > kMaxTick - b ? kMaxTick : a + b; }

struct MissingTicks {
  TickRange ticks;
  std::uint64_t source_bit;
};

void enter_into_ledger(std::span<const SourceDamage> damage, EpochRange owned, BuiltSlice& out) {
  out.sources_missing.clear();
  for (const auto& [source, what] : damage) {
    if (owned.contains(what.first_epoch)) out.ledger.hits_dropped[static_cast<std::size_t>(what.cause)] += what.n_hits;
    if (what.n_epochs == 0 || !epochs_of(what).overlaps(owned)) continue;
    if (out.sources_missing.empty() || out.sources_missing.back() != source.value) {
      out.sources_missing.push_back(source.value);
    }
  }
}

/// The missing ranges, sorted by their beginning.
std::vector<MissingTicks> missing_ticks(std::span<const SourceDamage> damage, std::uint32_t epoch_ticks) {
  std::vector<MissingTicks> missing;
  for (const auto& [source, what] : damage) {
    if (what.n_epochs == 0) continue;
    const auto epochs = epochs_of(what);
    missing.push_back(
        {{tick_of_epoch(epochs.begin, epoch_ticks), tick_of_epoch(epochs.end, epoch_ticks)}, source_bit(source)});
  }
  std::ranges::sort(missing, {}, [](const MissingTicks& m) { return m.ticks.begin; });
  return missing;
}

}  // namespace

void account_for_damage(std::span<const SourceDamage> damage, const SliceGeometry& geometry, BuiltSlice& out) {
  enter_into_ledger(damage, geometry.owned_epochs(out.slice()), out);
  if (damage.empty()) return;
  const auto missing = missing_ticks(damage, geometry.base.epoch_ticks);
  std::size_t passed = 0;  // all before this one end before any remaining event
  for (std::size_t i = 0; i < out.events.size(); ++i) {
    const Tick first = out.events.time[i];
    const Tick from = first - std::min(first, geometry.reach);
    const Tick to = saturating_add(first + out.events.duration[i], geometry.reach);
    while (passed < missing.size() && missing[passed].ticks.end <= from) ++passed;
    for (std::size_t m = passed; m < missing.size() && missing[m].ticks.begin <= to; ++m) {
      if (missing[m].ticks.end <= from) continue;
      out.events.flags[i] |= kIncomplete;
      out.events.sources_missing[i] |= missing[m].source_bit;
    }
  }
}

}  // namespace eventloom
