#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/dataflow/decoded_hits.hpp"
#include "core/dataflow/source_slice.hpp"
#include "core/definitions/event_list.hpp"
#include "formats/epoch_buffer.hpp"

namespace eventloom {

/// A slice as stored by `--save-sorted`.
struct SortedSlice {
  std::vector<std::byte> buffers;    ///< stored epoch buffers, see formats/sorted_hit.hpp
  std::vector<SourceDamage> damage;  ///< losses that the slice accounts for
};

/// Encodes the hits of a slice, sorted and with their events tagged, in the format of formats/sorted_hit.hpp.
class SortedSliceEncoder {
 public:
  /// `bin_ticks`: width of the histograms' bins.
  SortedSliceEncoder(std::uint32_t epoch_ticks, Tick bin_ticks) : epoch_ticks_(epoch_ticks), bin_ticks_(bin_ticks) {}

  /// Replaces `out` with stored epoch buffers of the hits that the slice owns. `events`: runs of the keys; events that
  /// begin before the slice are tagged by their own slice.
  void encode(const DecodedHits& hits, std::span<const HitKey> keys, std::span<const EventRange> events,
              const SliceBounds& bounds, bool with_payload, std::vector<std::byte>& out);

 private:
  void add_epoch(std::span<const HitKey> keys, std::uint32_t first, std::uint32_t end);
  void add_histogram(std::span<const HitKey> keys, Epoch epoch);
  void flush_bins(std::uint64_t first_bin);
  void add_hit(HitKey key);
  void close(std::vector<std::byte>& out);

  std::uint32_t epoch_ticks_;
  Tick bin_ticks_;
  const DecodedHits* hits_ = nullptr;
  Tick start_ = 0;
  bool with_payload_ = false;
  std::span<const EventRange> events_;  ///< yet to be tagged
  EpochBufferHeader open_;
  std::vector<std::uint32_t> words_;
  MarkerWriter writer_{words_};
  std::vector<std::uint32_t> bins_;
  std::vector<std::uint32_t> payload_;
};

}  // namespace eventloom
