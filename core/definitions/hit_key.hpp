#pragma once

#include <cstdint>

#include "formats/ids.hpp"

namespace eventloom {

/// A hit in time order: its tick, relative to the beginning of its builder's data, in the high half, its number in the
/// low half. Keys are unique and their order is (time, source, position in the stream).
using HitKey = std::uint64_t;
constexpr Tick tick_of(HitKey key) { return Tick(key >> 32); }
constexpr std::uint32_t number_of(HitKey key) { return static_cast<std::uint32_t>(key); }
constexpr HitKey make_key(std::uint32_t tick, std::uint32_t number) { return HitKey{tick} << 32 | number; }

}  // namespace eventloom
