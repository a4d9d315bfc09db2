#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/markers.hpp"

namespace eventloom {

/// A bare hit is two words: a T marker that holds one ID, and that ID, without payload. Most streams hold little else.
constexpr bool begins_bare_hit(std::uint32_t word) { return word >> 19 == (std::uint32_t{1} << 9 | 1U); }

/// Columns of hits with room for half as many elements as there are words to unpack; the caller owns them.
struct BareHitColumns {
  std::uint32_t* tick;
  std::uint32_t* channel;
};

/// Unpacks the bare hits at the beginning of `words`, up to the first words that are not a bare hit or whose time is
/// not below `epoch_ticks`. May stop earlier, since it leaves the words after the last whole vector. Ticks are `base`
/// plus the time, modulo 2^32. Elements beyond the hits are undefined. Returns the number of hits.
using BareHitUnpacker = std::size_t (*)(std::span<const std::uint32_t> words, std::uint32_t epoch_ticks,
                                        std::uint32_t base, BareHitColumns out);

/// Returns an unpacker for the widest vectors of the processor, by Google's Highway. Without that library it unpacks
/// hit by hit. The choice costs as much as unpacking some hits: make it once for many calls.
BareHitUnpacker bare_hit_unpacker();

/// Whether any of the ticks is less than the one before it, when both are counted from `base`, modulo 2^32.
bool falls_anywhere(std::span<const std::uint32_t> ticks, std::uint32_t base);

}  // namespace eventloom
