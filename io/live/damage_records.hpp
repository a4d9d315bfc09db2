#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "formats/event.hpp"

namespace eventloom {

/// More records of damage than these, 2 MiB of them, are put together: a peer may make as many as it likes.
inline constexpr std::size_t kMostDamage = std::size_t{1} << 16;

/// Damage of so many epochs goes on behind the end of its stream.
inline constexpr std::uint64_t kForEver = std::uint64_t{1} << 62;

/// One past the last epoch; the greatest number for damage without end.
constexpr Epoch end_of(const Damage& damage) {
  return damage.first_epoch + std::min(damage.n_epochs, std::numeric_limits<Epoch>::max() - damage.first_epoch);
}

/// Makes `damage` part of a record before it, where it is of the same cause; what lies between counts as damaged, too.
/// False, and nothing changes, where it cannot be.
constexpr bool extend(Damage& record, const Damage& damage) {
  constexpr auto kMostHits = std::numeric_limits<std::uint32_t>::max();
  if (record.cause != damage.cause || damage.first_epoch < record.first_epoch) return false;
  if (record.n_hits > kMostHits - damage.n_hits) return false;
  record.n_epochs = std::max(end_of(record), end_of(damage)) - record.first_epoch;
  record.n_hits += damage.n_hits;
  return true;
}

}  // namespace eventloom
