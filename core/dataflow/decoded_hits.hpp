#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/runtime/scratch.hpp"
#include "formats/ids.hpp"
#include "formats/sorted_hit.hpp"

namespace eventloom {

/// The hits of one stream in DecodedHits. Epochs are in ascending order; times within an epoch may not be.
struct DecodedSource {
  /// The beginning of an epoch. From there to the next mark, the low 32 bits of the ticks suffice.
  struct TickMark {
    std::uint64_t tick;  ///< first tick of the epoch, relative to `start`
    std::uint32_t hit;   ///< number of its first hit
  };
  /// Ticks from one mark to the next, at least.
  static constexpr std::uint64_t kMarkDistance = std::uint64_t{1} << 30;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool ordered = true;          ///< times never decrease
  std::vector<TickMark> marks;  ///< ascending; empty only if there are no hits
  Tick start = 0;               ///< origin of its ticks
  std::uint64_t early = 0;      ///< hits before `start`, not included in the columns
};

/// An event tag, in streams of time-sorted hits.
struct TaggedEvent {
  std::uint32_t hit;  ///< number of the hit after it
  SortedTag tag;
};

/// All hits sent for a slice, in columns: source by source, each in the order of its stream, so that the number of a
/// hit orders hits of equal time.
struct DecodedHits {
  /// The low 32 bits of the ticks relative to DecodedSource::start; the others follow from the marks of the stream.
  Scratch<std::uint32_t> tick;
  Scratch<std::uint32_t> channel;
  Scratch<std::uint16_t> source;
  Scratch<const std::uint32_t*> payload;  ///< points into the epoch buffers; unset without payload
  Scratch<std::uint32_t> payload_words;
  std::vector<DecodedSource> sources;  ///< indexed by stream
  std::vector<TaggedEvent> tags;       ///< stream by stream
  std::uint32_t size = 0;

  /// Calls `use(base, begin, end)` for runs of hits of a stream whose ticks are base + (tick - base modulo 2^32).
  template <class Use>
  void each_run(const DecodedSource& stream, Use use) const;
  /// Number of the first hit of the stream, from hit `from` on, that is not before the tick `time`; every hit before
  /// `from` is. Either `time` begins an epoch, or the stream is ordered.
  [[nodiscard]] std::uint32_t first_at(const DecodedSource& stream, std::uint64_t time, std::uint32_t from) const;
  /// All bits of the tick of a hit.
  [[nodiscard]] std::uint64_t tick_of_hit(std::uint32_t number) const;
  /// Hits with begin <= tick < end, both epoch boundaries.
  [[nodiscard]] std::uint64_t count(Tick begin, Tick end) const;
  /// Likewise for one stream.
  [[nodiscard]] std::uint64_t count_of(std::size_t stream, Tick begin, Tick end) const;
};

/// A tick, given its low 32 bits and a tick at most 2^32 - 1 before it.
constexpr std::uint64_t tick_after(std::uint64_t base, std::uint32_t low) {
  return base + static_cast<std::uint32_t>(low - static_cast<std::uint32_t>(base));
}

template <class Use>
void DecodedHits::each_run(const DecodedSource& stream, Use use) const {
  if (stream.marks.empty()) return;
  if (stream.marks.back().tick < std::uint64_t{1} << 31) return use(std::uint64_t{0}, stream.begin, stream.end);
  for (std::size_t i = 0; i < stream.marks.size(); ++i) {
    const auto end = i + 1 < stream.marks.size() ? stream.marks[i + 1].hit : stream.end;
    use(stream.marks[i].tick, stream.marks[i].hit, end);
  }
}

}  // namespace eventloom
