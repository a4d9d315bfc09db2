#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/dataflow/decoded_hits.hpp"
#include "formats/event.hpp"
#include "formats/falling_ticks.hpp"
#include "formats/geometry.hpp"
#include "formats/markers.hpp"
#include "formats/offset_span.hpp"
#include "formats/plain_hits.hpp"
#include "formats/sorted_hit.hpp"

namespace eventloom {

/// Takes what a MarkerReader finds in one epoch buffer and writes the hits to the columns, which have room as a
/// PlainHitUnpacker requires it and outlive the writer. The caller makes the hits valid by raising DecodedHits::size.
/// kClip: the buffer may hold epochs outside `range`. kSorted: hits carry their source.
template <bool kClip, bool kPayload, bool kSorted>
struct HitWriter {
  HitWriter(DecodedHits& hits, DecodedSource& source, EpochRange range, std::uint32_t epoch_ticks,
            PlainHitUnpacker unpack)
      : unpack_(unpack),
        hits_(hits),
        tick_(hits.tick.data()),
        channel_(hits.channel.data()),
        origin_(hits.source.data()),
        payload_(hits.payload.data()),
        payload_words_(hits.payload_words.data()),
        at_(hits.size),
        source_(source),
        next_mark_(source.marks.empty() ? 0 : source.marks.back().tick + DecodedSource::kMarkDistance),
        range_(range),
        epoch_ticks_(epoch_ticks) {}

  void epoch(Epoch epoch) {
    epoch_ = epoch;
    if constexpr (kClip) {
      inside_ = range_.contains(epoch);
      is_early_ = epoch < range_.begin ? 1 : 0;
      if (!inside_) return;
    }
    const std::uint64_t base = (epoch - range_.begin).value * epoch_ticks_;
    base_ = static_cast<std::uint32_t>(base);
    if (at_ == hits_.size) first_tick_ = base;
    last_tick_ = base;
    if (base < next_mark_) return;
    source_.marks.push_back({base, at_});
    next_mark_ = base + DecodedSource::kMarkDistance;
  }
  /// Whether a time is earlier than the one before it. As epochs ascend, one look at the whole buffer suffices. A
  /// buffer longer than 2^32 ticks always counts as falling.
  [[nodiscard]] bool falls() const {
    const auto first = hits_.size;
    if (at_ == first) return false;
    if (last_tick_ - first_tick_ + epoch_ticks_ > std::uint64_t{1} << 32) return true;
    return falls_anywhere({tick_ + first, at_ - first}, static_cast<std::uint32_t>(first_tick_));
  }
  void hit(std::uint32_t tick_in_epoch, std::uint32_t channel, std::span<const std::uint32_t> payload) {
    if constexpr (kClip) {
      ++clipped_;
      early_ += is_early_;
      if (!inside_) return;
      --clipped_;
    }
    const std::uint32_t tick = base_ + tick_in_epoch;
    tick_[at_] = tick;
    channel_[at_] = channel;
    if constexpr (kSorted) {
      if (payload.size() < kSortedPrefix || payload[1] >= n_origins_) {
        wrong_ = true;
        return;
      }
      origin_[at_] = static_cast<std::uint16_t>(payload[1]);
      payload = payload.subspan(kSortedPrefix);
    }
    if constexpr (kPayload) {
      payload_[at_] = payload.data();
      payload_words_[at_] = static_cast<std::uint32_t>(payload.size());
    }
    ++at_;
  }
  /// Time-sorted hits always have payload.
  std::size_t plain_hits(std::span<const std::uint32_t> words, EpochRange epochs, Epoch& open) requires(!kSorted) {
    if constexpr (kClip) epochs = alike(epochs);
    const std::uint64_t n_epochs = (epochs.end - epochs.begin).value;
    const std::uint64_t begin = (epochs.begin - range_.begin).value * epoch_ticks_;
    EpochCount count{.first_epoch = static_cast<std::uint32_t>(epochs.begin.value) & kValueMask,
                     .first_tick = static_cast<std::uint32_t>(begin),
                     .epoch_ticks = epoch_ticks_,
                     .end = inside_ ? unmarked_epochs(begin, n_epochs) : at_most_28_bits(n_epochs),
                     .open = static_cast<std::uint32_t>((open - epochs.begin).value)};
    const auto done = unpack_(words, count, {tick_ + at_, channel_ + at_});
    epoch_ = open = epochs.begin + Epoch(count.open);
    if constexpr (kClip) {
      if (!inside_) {
        clipped_ += done.n_hits;
        early_ += is_early_ * done.n_hits;
        return done.n_words;
      }
    }
    if constexpr (kPayload) {
      std::fill_n(payload_ + at_, done.n_hits, nullptr);
      std::fill_n(payload_words_ + at_, done.n_hits, 0U);
    }
    at_ += done.n_hits;
    last_tick_ = begin + std::uint64_t{count.open} * epoch_ticks_;
    base_ = static_cast<std::uint32_t>(last_tick_);
    return done.n_words;
  }
  /// Returns those epochs of a buffer that lie, like the open one, before, in or after the range.
  [[nodiscard]] EpochRange alike(EpochRange epochs) const {
    if (inside_) return {std::max(epochs.begin, range_.begin), std::min(epochs.end, range_.end)};
    if (is_early_ != 0) return {epochs.begin, range_.begin};
    return {std::max(epochs.begin, range_.end), epochs.end};
  }
  static std::uint32_t at_most_28_bits(std::uint64_t n) {
    return static_cast<std::uint32_t>(std::min(n, std::uint64_t{kValueMask}));
  }
  /// Counts the epochs before the first that needs a mark, of `n` that begin at tick `begin`.
  [[nodiscard]] std::uint32_t unmarked_epochs(std::uint64_t begin, std::uint64_t n) const {
    const std::uint64_t unmarked = next_mark_ <= begin ? 0 : (next_mark_ - begin + epoch_ticks_ - 1) / epoch_ticks_;
    return at_most_28_bits(std::min(n, unmarked));
  }
  void tag(std::uint32_t value) {
    if constexpr (kSorted) {
      if (inside_) hits_.tags.push_back({at_, decode_tag(value)});
    } else {
      leave_out(OtherMarker::tag);
    }
  }
  void peak(Peak) { leave_out(OtherMarker::peak); }
  void histogram(std::uint32_t, std::span<const std::uint32_t>) { leave_out(OtherMarker::histogram); }
  void schedule(std::span<const std::uint32_t>) { leave_out(OtherMarker::schedule); }
  /// Counts the marker in the slice that owns its epoch, after correction of the epoch's first hits.
  void leave_out(OtherMarker marker) {
    if (owned_.contains(first_corrected(epoch_, offsets_, epoch_ticks_))) left_out_.count(marker);
  }

  PlainHitUnpacker unpack_;
  DecodedHits& hits_;
  std::uint32_t* tick_;
  std::uint32_t* channel_;
  std::uint16_t* origin_;
  const std::uint32_t** payload_;
  std::uint32_t* payload_words_;
  std::uint32_t at_;
  std::uint32_t base_ = 0;        ///< low 32 bits of the epoch's first tick
  std::uint64_t first_tick_ = 0;  ///< the first tick of the first epoch with hits
  std::uint64_t last_tick_ = 0;   ///< the first tick of the last epoch
  std::uint32_t clipped_ = 0;
  std::uint32_t early_ = 0;  ///< clipped hits that precede the range
  std::uint32_t is_early_ = 0;
  bool inside_ = true;
  bool wrong_ = false;
  std::uint32_t n_origins_ = 0;
  DecodedSource& source_;
  std::uint64_t next_mark_;  ///< epochs from here on need separate marks
  EpochRange range_;
  std::uint32_t epoch_ticks_;
  Epoch epoch_ = 0;
  MarkerCounts left_out_;
  EpochRange owned_;  ///< epochs whose other markers are counted, by corrected times
  OffsetSpan offsets_;
};

}  // namespace eventloom
