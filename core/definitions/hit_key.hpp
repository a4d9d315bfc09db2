#pragma once

#include <cstdint>

#include "formats/ids.hpp"

namespace eventloom {

/// A hit in time order: its tick, relative to the beginning of its builder's data, in the high bits, its number in the
/// low ones. Keys are unique and their order is (time, source, position in the stream).
using HitKey = std::uint64_t;
inline constexpr unsigned kHitNumberBits = 28;
inline constexpr std::uint64_t kMostHits = std::uint64_t{1}
                                           << kHitNumberBits;  ///< maximum number of hits in the data of a slice
/// Ticks of the data of a slice, with its margins on both sides: 68 s of 1 ns.
inline constexpr std::uint64_t kMostSliceTicks = std::uint64_t{1} << (64 - kHitNumberBits);

constexpr Tick tick_of(HitKey key) { return Tick(key >> kHitNumberBits); }
constexpr std::uint32_t number_of(HitKey key) { return static_cast<std::uint32_t>(key & (kMostHits - 1)); }
constexpr HitKey make_key(std::uint64_t tick, std::uint32_t number) { return HitKey{tick} << kHitNumberBits | number; }

}  // namespace eventloom
