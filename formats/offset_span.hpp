#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"

/// Arithmetic for streams with corrected times. Epochs are numbered by the times as recorded and sent; slices are
/// numbered by corrected times.
namespace eventloom {

/// Least and greatest offset of a stream's channels, in ticks.
struct OffsetSpan {
  std::int64_t least = 0;
  std::int64_t most = 0;

  [[nodiscard]] constexpr bool none() const { return least == 0 && most == 0; }
  [[nodiscard]] constexpr Tick width() const { return Tick(most) - Tick(least); }
  /// Extends the span to that of another stream.
  void add(OffsetSpan other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
  friend bool operator==(const OffsetSpan&, const OffsetSpan&) = default;
};

/// The span of several streams together.
inline OffsetSpan total_span(std::span<const OffsetSpan> spans) {
  if (spans.empty()) return {};
  OffsetSpan total = spans.front();
  for (const auto& span : spans) total.add(span);
  return total;
}

/// `place` + `offset`, saturated at the first and the last tick or epoch.
template <class Tag>
constexpr Count<Tag> shifted(Count<Tag> place, std::int64_t offset) {
  using Places = Count<Tag>;
  if (offset < 0) {
    const Places back = Places(0) - Places(offset);
    return place < back ? 0 : place - back;
  }
  const Places ahead(offset);
  constexpr Places kLast = std::numeric_limits<Places>::max();
  return place > kLast - ahead ? kLast : place + ahead;
}

/// Earliest epoch in which hits of `epoch` can lie after correction.
constexpr Epoch first_corrected(Epoch epoch, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  return offsets.none() ? epoch : epoch_of(shifted(tick_of_epoch(epoch, epoch_ticks), offsets.least), epoch_ticks);
}

/// Latest epoch in which hits of `epoch` can lie after correction.
constexpr Epoch last_corrected(Epoch epoch, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  if (offsets.none()) return epoch;
  const Tick last = shifted(tick_of_epoch(epoch, epoch_ticks), std::int64_t{epoch_ticks} - 1);
  return epoch_of(shifted(last, offsets.most), epoch_ticks);
}

/// One past the last epoch whose hits all lie before epoch `end` after correction.
constexpr Epoch all_corrected_before(Epoch end, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  return offsets.none() ? end : epoch_of(shifted(tick_of_epoch(end, epoch_ticks), -offsets.most), epoch_ticks);
}

/// First epoch whose hits all lie in epoch `begin` or later after correction.
constexpr Epoch all_corrected_from(Epoch begin, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  if (offsets.none()) return begin;
  const Tick tick = shifted(tick_of_epoch(begin, epoch_ticks), -offsets.least);
  return epoch_of(tick, epoch_ticks) + Epoch(tick % epoch_ticks != 0);
}

/// The epochs, at least one, whose hits can lie in `corrected` after correction.
constexpr EpochRange before_correction(EpochRange corrected, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  if (offsets.none()) return corrected;
  const Epoch begin = all_corrected_before(corrected.begin, offsets, epoch_ticks);
  return {begin, std::max(begin + 1, all_corrected_from(corrected.end, offsets, epoch_ticks))};
}

/// The epochs of a stream that are sent for a slice: those with hits that can lie in the slice or its margins. Slice 0
/// also includes all earlier epochs, since corrected times before tick 0 are counted there.
inline EpochRange sent_epochs(const SliceGeometry& geometry, SliceId slice, OffsetSpan offsets) {
  auto epochs = before_correction(geometry.sent_epochs(slice), offsets, geometry.base.epoch_ticks);
  if (slice.value == 0) epochs.begin = 0;
  return epochs;
}

}  // namespace eventloom
