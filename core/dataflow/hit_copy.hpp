#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/definitions/hit_key.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Hits [begin, end) of a list of keys.
struct KeyBlock {
  std::uint32_t begin;
  std::uint32_t end;
};

/// Channels and sources of hits, indexed by the number of the hit. One more source must be readable.
struct HitProperties {
  const std::uint32_t* channel;
  const std::uint16_t* source;
};

/// Columns of hits; the caller owns them.
struct CopiedHits {
  Tick* time;
  std::uint32_t* channel;
  std::uint16_t* source;
};

/// copy_hits() writes whole vectors, so its columns need room for this many more hits.
inline constexpr std::size_t kHitsBehind = 8;

/// Copies the hits of the blocks, one block after another, to columns. Times are those of the keys plus `start`.
void copy_hits(std::span<const HitKey> keys, std::span<const KeyBlock> blocks, HitProperties of, Tick start,
               CopiedHits out);

}  // namespace eventloom
