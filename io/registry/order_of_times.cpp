#include "io/registry/order_of_times.hpp"

#include <algorithm>

#include "io/recorded/default_epoch.hpp"
#include "io/recorded/stamp_clock.hpp"
#include "io/registry/registry.hpp"

namespace eventloom {

bool unwraps_counters(const SourceUri& uri) {
  const auto& scheme = scheme_of(uri);
  const bool has_bits = std::ranges::find(scheme.keys, "bits", &SourceKey::name) != scheme.keys.end();
  return has_bits && (!scheme.holds_events || StampClock::makes_times(uri));
}

TimeOrder order_of_times(const SourceUri& uri, std::uint64_t tick_ps) {
  const auto& scheme = scheme_of(uri);
  TimeOrderDefaults defaults{.disorder_ps = scheme.disorder_ps};
  if (scheme.holds_events && !uri.has("bank")) defaults.hits = kReorderStamped;
  defaults.has_bits = unwraps_counters(uri);
  return time_order_of(uri, defaults, tick_ps);
}

TimeBase time_base_of(const TimeBaseOptions& options, bool numbered) {
  TimeBase base;
  base.tick_ps = options.tick_ps.value_or(base.tick_ps);
  base.epoch_ticks = options.epoch_ticks.value_or(numbered ? kNumbersPerEpoch : default_epoch_ticks(base.tick_ps));
  return base;
}

}  // namespace eventloom
