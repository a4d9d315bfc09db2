#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "formats/ids.hpp"

namespace eventloom {

/// The clock of a run: length of a tick, and of an epoch in ticks.
struct TimeBase {
  std::uint64_t tick_ps = 1000;
  /// At most 2^19, since the T marker holds 19 bits of time (DABC proposal 2006, table 5.1).
  std::uint32_t epoch_ticks = 10000;

  friend bool operator==(const TimeBase&, const TimeBase&) = default;
};

inline constexpr std::uint32_t kMaxEpochTicks = 1U << 19;

/// Greatest epoch that data may have: its ticks, and those of the slices around it, fit in 64 bits. A slice with its
/// margins on both sides is shorter than 2^36 ticks, and the last slice sent follows the last data, so room for two
/// such slices suffices.
constexpr Epoch max_epoch(std::uint32_t epoch_ticks) {
  constexpr std::uint64_t kWindows = std::uint64_t{4} << 36;
  return Epoch((std::numeric_limits<std::uint64_t>::max() - kWindows) / epoch_ticks - 1);
}

/// The epoch that holds a tick.
constexpr Epoch epoch_of(Tick tick, std::uint32_t epoch_ticks) { return Epoch(tick.value / epoch_ticks); }

/// First tick of an epoch, saturated at the last tick.
constexpr Tick tick_of_epoch(Epoch epoch, std::uint32_t epoch_ticks) {
  constexpr Tick kLast = std::numeric_limits<Tick>::max();
  return epoch > Epoch(kLast.value / epoch_ticks) ? kLast : Tick(epoch.value * epoch_ticks);
}

/// Half-open range of epochs or ticks.
template <class T>
struct Range {
  T begin{};
  T end{};

  [[nodiscard]] constexpr bool contains(T x) const { return begin <= x && x < end; }
  [[nodiscard]] constexpr bool overlaps(Range other) const { return begin < other.end && other.begin < end; }
  friend constexpr bool operator==(Range, Range) = default;
};
using EpochRange = Range<Epoch>;
using TickRange = Range<Tick>;

/// The range of time that a slice owns, and the range that is sent to its builder.
///
/// An event belongs to the slice of its first hit and is at most `overlap` long. `reach` is how far the event
/// definition looks around a hit. To find all events with a hit in the slice, and the start of each, a builder must see
/// overlap + reach before the slice; to see its own events completely, it must see overlap + reach after the slice.
/// `history` is how long before a hit other hits may decide whether it counts, which a builder must see, too.
struct SliceGeometry {
  TimeBase base;
  std::uint64_t epochs_per_slice = 100;
  Tick overlap = 10000;
  Tick reach = 0;
  Tick history = 0;

  /// Margin after the slice, and before it; saturated at the last tick.
  [[nodiscard]] Tick margin_behind() const { return sum(overlap, reach); }
  [[nodiscard]] Tick margin() const { return sum(margin_behind(), history); }
  [[nodiscard]] Tick slice_ticks() const { return Tick(epochs_per_slice * base.epoch_ticks); }
  [[nodiscard]] SliceId slice_of(Epoch epoch) const { return {epoch.value / epochs_per_slice}; }

  [[nodiscard]] EpochRange owned_epochs(SliceId slice) const {
    return {Epoch(slice.value * epochs_per_slice), Epoch((slice.value + 1) * epochs_per_slice)};
  }
  [[nodiscard]] TickRange owned_ticks(SliceId slice) const {
    return {slice.value * slice_ticks(), (slice.value + 1) * slice_ticks()};
  }
  /// The whole epochs that cover the slice and its margins on both sides.
  [[nodiscard]] EpochRange sent_epochs(SliceId slice) const {
    const auto owned = owned_epochs(slice);
    return {owned.begin - std::min(owned.begin, margin_epochs()), owned.end + epochs_for(margin_behind())};
  }
  /// Number of epochs that cover the wider margin, the one before the slice.
  [[nodiscard]] Epoch margin_epochs() const { return epochs_for(margin()); }

 private:
  [[nodiscard]] static Tick sum(Tick a, Tick b) {
    constexpr Tick kLast = std::numeric_limits<Tick>::max();
    return a > kLast - b ? kLast : a + b;
  }
  [[nodiscard]] Epoch epochs_for(Tick ticks) const {
    return epoch_of(ticks, base.epoch_ticks) + Epoch(ticks % base.epoch_ticks != 0);
  }
};

}  // namespace eventloom
