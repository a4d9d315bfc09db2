#pragma once

#include <algorithm>
#include <limits>
#include <optional>

#include "core/dataflow/source.hpp"

namespace eventloom {

/// Passes once through a whole source: calls `take` with ascending ranges of epochs in which all of its epoch buffers
/// and stretches of damage begin. Skips long gaps. After each call, releases the data before the end of the range.
template <class Take>
void for_each_step(Source& source, Take take) {
  constexpr Epoch kEpochsPerStep = 512;
  constexpr Epoch kLast = std::numeric_limits<Epoch>::max();
  auto at = source.first_epoch();
  while (at && *at < source.end_epoch().value_or(kLast)) {
    const EpochRange step{*at, *at + std::min(kEpochsPerStep, kLast - *at)};
    take(step);
    source.release_before(step.end);
    at = source.next_beginning(step.end);
  }
}

}  // namespace eventloom
