#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "formats/geometry.hpp"

namespace eventloom {

/// A source's number at the beginning of `epoch`, before `offset` is added; 0 if it would be negative.
inline Tick number_at(Epoch epoch, std::uint32_t epoch_ticks, std::int64_t offset) {
  constexpr Tick kMost(std::numeric_limits<std::int64_t>::max());
  const Tick begin = tick_of_epoch(std::min(epoch, epoch_of(kMost, epoch_ticks)), epoch_ticks);
  return Tick(std::max<std::int64_t>(static_cast<std::int64_t>(begin) - offset, 0));
}

/// The multiple of `range` that, added to `first`, a number that wraps around after `range`, brings it nearest to `at`.
inline Tick nearest_raise(Tick first, Tick range, Tick at) {
  const Tick behind = at - std::min(at, first + range / 2);
  return (behind + range - 1) / range * range;
}

}  // namespace eventloom
