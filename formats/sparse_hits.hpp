#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/bare_hits.hpp"

namespace eventloom {

/// The epochs of a buffer, counted from its first one.
struct EpochCount {
  std::uint32_t first_epoch;  ///< low 28 bits of the first one
  std::uint32_t first_tick;   ///< low 32 bits of its first tick
  std::uint32_t epoch_ticks;
  std::uint32_t end;   ///< one past the last epoch that may be opened, below 2^28
  std::uint32_t open;  ///< the epoch to which the next hits belong
};

struct SparseHits {
  std::size_t n_words;
  std::uint32_t n_hits;
};

/// Unpacks epoch markers and bare hits at the beginning of `words`, for streams with few hits in an epoch. Stops at the
/// first words that are neither, at an epoch that does not follow the open one or may not be opened, at a time that is
/// not below `epoch_ticks`, and before a vector of 16 words without an epoch marker; the words after the last whole
/// vector are left. Sets `epochs.open`. Elements of the columns beyond the hits are undefined, up to the number of
/// words.
using SparseHitUnpacker = SparseHits (*)(std::span<const std::uint32_t> words, EpochCount& epochs, BareHitColumns out);

/// Returns an unpacker for vectors of 16 words, by Google's Highway; null if the processor has none (AVX-512) or the
/// program is built without that library. Choosing it takes as long as unpacking some hits, so choose once for many
/// calls.
SparseHitUnpacker sparse_hit_unpacker();

}  // namespace eventloom
