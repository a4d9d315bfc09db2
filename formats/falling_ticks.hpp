#pragma once

#include <cstdint>
#include <span>

namespace eventloom {

/// Whether any of the ticks is less than the one before it, when both are counted from `base`, modulo 2^32.
bool falls_anywhere(std::span<const std::uint32_t> ticks, std::uint32_t base);

}  // namespace eventloom
