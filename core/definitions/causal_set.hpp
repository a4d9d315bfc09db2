#pragma once

#include <cstdint>
#include <span>

#include "core/detector/detector.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// A hit of a channel whose position is known.
struct PlacedHit {
  Tick time = 0;
  Position place;
};

/// Size of the causal set of hits, given in the order of their event. Two hits are partners if their times differ by at
/// most their distance / `speed` (metres per tick) + `slack`. Until all are partners of each other, the hit with the
/// fewest partners (in a tie, the last) is removed. Takes time quadratic in the number of hits.
std::uint64_t causal_set_size(std::span<const PlacedHit> hits, double speed, Tick slack);

}  // namespace eventloom
