#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "formats/markers.hpp"

namespace eventloom {

/// The epochs of a buffer, counted from its first one.
struct EpochCount {
  std::uint32_t first_epoch;  ///< low 28 bits of the first one
  std::uint32_t first_tick;   ///< low 32 bits of its first tick
  std::uint32_t epoch_ticks;
  std::uint32_t end;   ///< one past the last epoch that may be opened, below 2^28
  std::uint32_t open;  ///< the epoch to which the next hits belong
};

/// Columns of hits; the caller owns them.
struct PlainHitColumns {
  std::uint32_t* tick;  ///< low 32 bits
  std::uint32_t* channel;
};

struct PlainHits {
  std::size_t n_words;
  std::uint32_t n_hits;
};

/// An unpacker writes whole vectors, so its columns need room for this many more elements.
inline constexpr std::size_t kPlainVector = 16;

/// Unpacks the epoch markers and the T markers with one or two IDs, without payload, at the beginning of `words`: all
/// or nearly all words of most streams. Stops before the first T marker that is not followed by its IDs, any other
/// word, an epoch that does not follow the open one or may not be opened, and a time that is not below `epoch_ticks`.
/// Sets `epochs.open`. Two words of any kind precede `words` in memory. The columns have room for as many elements as
/// there are words, and for kPlainVector more; elements beyond the hits are undefined.
using PlainHitUnpacker = PlainHits (*)(std::span<const std::uint32_t> words, EpochCount& epochs, PlainHitColumns out);

/// Returns an unpacker that is fast where many hits follow each other, each with a T marker of its own. It uses the
/// widest vectors of the processor through Google's Highway, and reads word by word if the program is built without it.
PlainHitUnpacker dense_hit_unpacker();
/// Returns an unpacker that is fast where epochs have few hits or many hits share a T marker. It needs AVX-512; on
/// other processors it is dense_hit_unpacker().
PlainHitUnpacker sparse_hit_unpacker();

/// Whether the unpacker for dense hits is the faster one, given the numbers of words, epochs and hits. By measurement,
/// it is if 12 hits or more lie between two epochs or two T markers of two IDs.
constexpr bool is_dense(std::uint64_t words, std::uint64_t epochs, std::uint64_t hits) {
  // There are words - epochs - hits T markers; the hits beyond these share one.
  const auto breaks = static_cast<std::int64_t>(2 * epochs + 2 * hits - words);
  return static_cast<std::int64_t>(hits) >= 12 * breaks;
}

/// Reads one more epoch marker, or T marker with its one or two IDs. Returns false if neither is next.
[[gnu::always_inline]] inline bool read_plain_group(std::span<const std::uint32_t> words, EpochCount& epochs,
                                                    PlainHitColumns out, PlainHits& done) {
  if (done.n_words == words.size()) return false;
  const std::uint32_t* at = words.data() + done.n_words;
  const std::uint32_t word = *at;
  if (marker_type(word) == MarkerType::epoch) {
    const std::uint32_t epoch = (word - epochs.first_epoch) & kValueMask;
    if (epoch <= epochs.open || epoch >= epochs.end) return false;
    epochs.open = epoch;
    ++done.n_words;
    return true;
  }
  const std::uint32_t time = word & kTimeMask;
  const std::size_t n = marker_value(word) >> 19;
  const bool fits = marker_type(word) == MarkerType::time && (n == 1 || n == 2) && time < epochs.epoch_ticks &&
                    words.size() - done.n_words > n;
  const auto is_id = [](std::uint32_t id) { return marker_type(id) == MarkerType::channel; };
  if (!fits || !is_id(at[1]) || !is_id(at[n])) return false;
  for (std::size_t i = 1; i <= n; ++i) {
    out.tick[done.n_hits] = epochs.first_tick + epochs.open * epochs.epoch_ticks + time;
    out.channel[done.n_hits++] = marker_value(at[i]);
  }
  done.n_words += 1 + n;
  return true;
}

}  // namespace eventloom
