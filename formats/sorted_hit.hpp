#pragma once

#include <cstdint>
#include <span>

#include "formats/markers.hpp"

/// Layout of a run's time-sorted hits in the marker format (`--save-sorted`). Another run can read them without sorting
/// them or finding the events again:
///
///   M   epoch
///   H1  multiplicity histogram of the epoch: hits per bin of a fixed width. Bins are aligned to tick 0; the
///       first one holds the first tick of the epoch. There is one H1 per sequence of bins with hits
///   T   a tick, and in it:
///         TG  start of an event: bit 27 truncated, bits 26..0 number of its hits, which are this
///             and the next ones in the order of the run
///         ID  channel, then payload: number of words that follow, source of the hit, its own payload
namespace eventloom {

/// Every hit states its number of payload words in the first one.
inline PayloadTable sorted_payload_table() { return PayloadTable::uniform(PayloadTable::kLengthInFirstWord); }
/// Number of payload words before a hit's own payload.
inline constexpr std::size_t kSortedPrefix = 2;

/// An event tag.
struct SortedTag {
  std::uint32_t n_hits = 0;
  bool truncated = false;
};
inline constexpr std::uint32_t kMostTaggedHits = (1U << 27) - 1;
constexpr std::uint32_t encode_tag(SortedTag tag) { return (tag.truncated ? 1U << 27 : 0U) | tag.n_hits; }
constexpr SortedTag decode_tag(std::uint32_t value) { return {value & kMostTaggedHits, value >> 27 != 0}; }

/// Bin width in ticks: `width`, or the smallest multiple of it with which an H1 marker can count the bins of an epoch.
constexpr Tick histogram_bin_ticks(Tick width, std::uint32_t epoch_ticks) {
  constexpr std::uint64_t kBins = (1U << 15) - 2;
  if (width == 0) width = 1;
  return width * ((Tick(epoch_ticks) / width + kBins) / kBins);
}

}  // namespace eventloom
