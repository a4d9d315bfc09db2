#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/slice_builder_settings.hpp"
#include "core/dataflow/source_slice.hpp"
#include "formats/epoch_buffer.hpp"
#include "formats/event.hpp"
#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/offset_span.hpp"

namespace eventloom {

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
  void decode_source(std::uint16_t source, std::span<const std::span<const std::byte>> pieces);
  bool decode_piece(std::uint16_t source, std::span<const std::byte> bytes, Epoch& next_epoch);
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
