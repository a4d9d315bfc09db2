#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/slice_builder_settings.hpp"
#include "core/dataflow/source_slice.hpp"
#include "core/runtime/scratch.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/offset_span.hpp"
#include "formats/sorted_hit.hpp"

namespace eventloom {

/// The hits of one stream in DecodedHits. Epochs are in ascending order; times within an epoch may not be.
struct DecodedSource {
  struct EpochMark {
    std::uint32_t tick;  ///< first tick of the epoch, relative to `start`
    std::uint32_t hit;   ///< number of its first hit
  };
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool ordered = true;  ///< times never decrease
  std::vector<EpochMark> epochs;
  Tick start = 0;           ///< origin of its ticks
  std::uint64_t early = 0;  ///< hits before `start`, not included in the columns
};

/// An event tag, in streams of time-sorted hits.
struct TaggedEvent {
  std::uint32_t hit;  ///< number of the hit after it
  SortedTag tag;
};

/// All hits sent for a slice, in columns: source by source, each in the order of its stream, so that the number of a
/// hit orders hits of equal time.
struct DecodedHits {
  Scratch<std::uint32_t> tick;  ///< relative to DecodedSource::start of the stream
  Scratch<std::uint32_t> channel;
  Scratch<std::uint16_t> source;
  Scratch<const std::uint32_t*> payload;  ///< points into the epoch buffers; unset without payload
  Scratch<std::uint32_t> payload_words;
  std::vector<DecodedSource> sources;  ///< indexed by stream
  std::vector<TaggedEvent> tags;       ///< stream by stream
  std::uint32_t size = 0;

  /// Hits with begin <= tick < end, both epoch boundaries, as counted while decoding.
  [[nodiscard]] std::uint64_t count(Tick begin, Tick end) const;
  /// The same for one stream.
  [[nodiscard]] std::uint64_t count_of(std::size_t stream, Tick begin, Tick end) const;
};

/// Converts the epoch buffers of one slice to columns. A buffer is used completely or not at all.
class SliceDecoder {
 public:
  explicit SliceDecoder(const SliceBuilderSettings& settings)
      : settings_(settings),
        offsets_(stream_offsets(*settings.detector, settings.sorted.has_value(), settings.payload.size())) {}

  /// Drops hits outside the epochs sent for the slice. Replaces hits() and damage().
  void decode(SliceId slice, std::span<const SourceSlice> sources, std::vector<BuildProblem>& problems);

  [[nodiscard]] const DecodedHits& hits() const { return hits_; }
  /// Damage reported by the sources and found while decoding, in epochs of corrected times.
  [[nodiscard]] const std::vector<SourceDamage>& damage() const { return damage_; }
  /// Markers of the slice that are neither epochs nor hits, by source; excludes those that the program adds to
  /// time-sorted hits.
  [[nodiscard]] const std::vector<MarkersLeftOut>& left_out() const { return left_out_; }

 private:
  void make_room(std::span<const SourceSlice> sources);
  void set_range(std::uint16_t stream, SliceId slice);
  void decode_source(std::uint16_t source, std::span<const std::byte> bytes);
  void decode_buffer(std::uint16_t source, const EpochBufferHeader& header, std::span<const std::uint32_t> words);
  template <bool kClip, bool kPayload, bool kSorted>
  void read_words(std::uint16_t source, const EpochBufferHeader& header, std::span<const std::uint32_t> words);
  [[nodiscard]] Damage in_corrected_epochs(std::uint16_t stream, const Damage& damage) const;
  [[nodiscard]] Damage unknown_from(std::uint16_t stream, Epoch epoch, const EpochBufferHeader& instead) const;
  void add_damage(std::uint16_t source, const Damage& damage);
  void drop(std::uint16_t source, const Damage& damage, std::string reason);
  void leave_out(std::uint16_t source, const MarkerCounts& counts);

  const SliceBuilderSettings& settings_;
  std::vector<OffsetSpan> offsets_;  ///< indexed by stream; empty: times are not corrected
  EpochRange window_;                ///< epochs that the builder sees, in corrected times
  EpochRange owned_;                 ///< owned by the slice, in corrected times
  EpochRange sent_;                  ///< epochs sent of the stream being read
  EpochRange read_;                  ///< part of sent_ whose hits are decoded
  DecodedHits hits_;
  std::vector<SourceDamage> damage_;
  std::vector<MarkersLeftOut> left_out_;
  std::vector<BuildProblem>* problems_ = nullptr;
};

}  // namespace eventloom
