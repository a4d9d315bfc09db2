#pragma once

#include <cstdint>
#include <span>

#include "core/definitions/hit_key.hpp"

namespace eventloom {

/// First position in [from, size) whose tick is not below `tick`; cheap if it is near `from`.
std::uint32_t seek_forward(std::span<const HitKey> keys, std::uint32_t from, Tick tick);

/// First position in [0, from] at and after which all ticks before `from` are at least `tick`; cheap if it is near
/// `from`.
std::uint32_t seek_backward(std::span<const HitKey> keys, std::uint32_t from, Tick tick);

}  // namespace eventloom
