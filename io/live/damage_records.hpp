#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "formats/event.hpp"

namespace eventloom {

/// Beyond this number (2 MiB of records), damage is merged, since a peer may cause any amount.
inline constexpr std::size_t kMostDamage = std::size_t{1} << 16;

/// Damage of at least this many epochs extends beyond the end of its stream.
inline constexpr Epoch kForever(std::uint64_t{1} << 62);

/// One past the last damaged epoch; saturates at the largest Epoch.
constexpr Epoch end_of(const Damage& damage) {
  return damage.first_epoch + std::min(damage.n_epochs, std::numeric_limits<Epoch>::max() - damage.first_epoch);
}

/// Merges `damage` into an earlier record of the same cause; epochs in between then also count as damaged. Returns
/// false and changes nothing if that is not possible.
constexpr bool extend(Damage& record, const Damage& damage) {
  constexpr auto kMostHits = std::numeric_limits<std::uint32_t>::max();
  if (record.cause != damage.cause || damage.first_epoch < record.first_epoch) return false;
  if (record.n_hits > kMostHits - damage.n_hits) return false;
  record.n_epochs = std::max(end_of(record), end_of(damage)) - record.first_epoch;
  record.n_hits += damage.n_hits;
  return true;
}

}  // namespace eventloom
