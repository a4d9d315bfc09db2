#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>

#include "formats/geometry.hpp"
#include "formats/ids.hpp"

/// Where the times of a stream are corrected: its epochs are numbered by the times as they are recorded and sent,
/// slices by the corrected ones.
namespace eventloom {

/// The least and the greatest offset, in ticks, of the channels of a stream.
struct OffsetSpan {
  std::int64_t least = 0;
  std::int64_t most = 0;

  [[nodiscard]] constexpr bool none() const { return least == 0 && most == 0; }
  [[nodiscard]] constexpr Tick width() const { return static_cast<Tick>(most) - static_cast<Tick>(least); }
  /// Also of another stream.
  void add(OffsetSpan other) {
    least = std::min(least, other.least);
    most = std::max(most, other.most);
  }
  friend bool operator==(const OffsetSpan&, const OffsetSpan&) = default;
};

/// Of several streams together.
inline OffsetSpan total_span(std::span<const OffsetSpan> spans) {
  if (spans.empty()) return {};
  OffsetSpan total = spans.front();
  for (const auto& span : spans) total.add(span);
  return total;
}

/// Times before the first tick become it, times after the last tick that one.
constexpr Tick shifted(Tick tick, std::int64_t offset) {
  if (offset < 0) {
    const Tick back = Tick{0} - static_cast<Tick>(offset);
    return tick < back ? 0 : tick - back;
  }
  const auto ahead = static_cast<Tick>(offset);
  constexpr Tick kLast = std::numeric_limits<Tick>::max();
  return tick > kLast - ahead ? kLast : tick + ahead;
}

/// First tick of an epoch; the last tick of all for epochs beyond it.
constexpr Tick tick_of_epoch(Epoch epoch, std::uint32_t epoch_ticks) {
  constexpr Tick kLast = std::numeric_limits<Tick>::max();
  return epoch > kLast / epoch_ticks ? kLast : epoch * epoch_ticks;
}

/// The epoch in which the first hits of `epoch` are after correction: none of them is in an earlier one.
constexpr Epoch first_corrected(Epoch epoch, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  return offsets.none() ? epoch : shifted(tick_of_epoch(epoch, epoch_ticks), offsets.least) / epoch_ticks;
}

/// None of the hits of `epoch` is in a later one.
constexpr Epoch last_corrected(Epoch epoch, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  if (offsets.none()) return epoch;
  const Tick last = shifted(tick_of_epoch(epoch, epoch_ticks), std::int64_t{epoch_ticks} - 1);
  return shifted(last, offsets.most) / epoch_ticks;
}

/// One past the last epoch of which all hits are, after correction, before epoch `end`.
constexpr Epoch all_corrected_before(Epoch end, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  return offsets.none() ? end : shifted(tick_of_epoch(end, epoch_ticks), -offsets.most) / epoch_ticks;
}

/// The first epoch of which all hits are, after correction, in epoch `begin` or later.
constexpr Epoch all_corrected_from(Epoch begin, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  if (offsets.none()) return begin;
  const Tick tick = shifted(tick_of_epoch(begin, epoch_ticks), -offsets.least);
  return tick / epoch_ticks + (tick % epoch_ticks != 0 ? 1 : 0);
}

/// The epochs, at least one, whose hits may be, after correction, in `corrected`.
constexpr EpochRange before_correction(EpochRange corrected, OffsetSpan offsets, std::uint32_t epoch_ticks) {
  if (offsets.none()) return corrected;
  const Epoch begin = all_corrected_before(corrected.begin, offsets, epoch_ticks);
  return {begin, std::max(begin + 1, all_corrected_from(corrected.end, offsets, epoch_ticks))};
}

/// Of a stream, the epochs that are sent for a slice: those with hits that may be in the slice or in its margins. For
/// slice 0 all before them, too: corrected times before tick 0 are counted there.
inline EpochRange sent_epochs(const SliceGeometry& geometry, SliceId slice, OffsetSpan offsets) {
  auto epochs = before_correction(geometry.sent_epochs(slice), offsets, geometry.base.epoch_ticks);
  if (slice.value == 0) epochs.begin = 0;
  return epochs;
}

}  // namespace eventloom
