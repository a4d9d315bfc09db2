#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// Goes once through a whole source: calls `take` with ranges of epochs, rising, in which every epoch buffer
/// and every stretch of damage begins that the source has. Long gaps are left out. What lies before a
/// range is forgotten.
template <class Take>
void for_each_step(Source& source, Take take) {
  constexpr Epoch kEpochsPerStep = 512;
  constexpr Epoch kLast = std::numeric_limits<Epoch>::max();
  auto at = source.first_epoch();
  while (at && *at < source.end_epoch().value_or(kLast)) {
    const EpochRange step{*at, *at + std::min(kEpochsPerStep, kLast - *at)};
    take(step);
    source.forget(step.end);
    at = source.next_beginning(step.end);
  }
}

}  // namespace eventloom
