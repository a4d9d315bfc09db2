#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/detector/detector.hpp"
#include "formats/ids.hpp"

namespace eventloom {

/// Values of hits, both ends included. Hits without a value, or whose value is NaN, are in no range.
struct ValueRange {
  double low = 0;
  double high = 0;

  [[nodiscard]] bool contains(double value) const { return low <= value && value <= high; }
  friend bool operator==(const ValueRange&, const ValueRange&) = default;
};

/// Ticks from the hit that opens a window, or from the first hit of an event; both ends included, `from` <= `to`.
struct OwnWindow {
  std::int64_t from = 0;
  std::int64_t to = 0;

  friend bool operator==(const OwnWindow&, const OwnWindow&) = default;
};

/// Hits of a group, or of channels or sources by number: all, or those with a value in a range, in a separate window,
/// or both.
struct HitSelection {
  enum class Of : std::uint8_t { group, channel, source };
  Of of = Of::group;
  std::size_t group = 0;  ///< index in Detector::groups()
  std::uint64_t low = 0;  ///< channels or sources, both ends included
  std::uint64_t high = 0;
  std::optional<ValueRange> values;
  std::optional<OwnWindow> window;

  /// Whether a hit belongs to it, regardless of its time. `groups`: those of its channel.
  [[nodiscard]] bool includes(std::uint16_t source, std::uint32_t channel, GroupSet groups, double value) const {
    return (!values || values->contains(value)) && is_member(source, channel, groups);
  }
  /// Likewise, regardless of values.
  [[nodiscard]] bool is_member(std::uint16_t source, std::uint32_t channel, GroupSet groups) const {
    if (of == Of::group) return (groups >> group & 1U) != 0;
    const std::uint64_t number = of == Of::channel ? channel : source;
    return low <= number && number <= high;
  }
  /// Whether the selection's window, if any, holds a hit `since` ticks after the hit that opens it (for an event, its
  /// first).
  [[nodiscard]] bool is_in_window(std::int64_t since) const {
    return !window || (window->from <= since && since <= window->to);
  }
  friend bool operator==(const HitSelection&, const HitSelection&) = default;
};

/// A hit of a selection.
struct SelectedHit {
  Tick tick = 0;
  std::uint16_t source = 0;
  std::uint32_t channel = 0;
  double value = 0;  ///< NaN: none
};

/// Number of different channels, by source and channel, among the hits.
std::uint64_t count_channels(std::span<const SelectedHit> hits);
/// Sum of the values of the hits that have one, in their order; 0 without any.
double sum_of_values(std::span<const SelectedHit> hits);
/// Largest of them; std::nullopt without any.
std::optional<double> largest_value(std::span<const SelectedHit> hits);
/// Whether both are present and the first of `before` is not later than the first of `after`. Both are in time order.
bool in_order(std::span<const SelectedHit> before, std::span<const SelectedHit> after);

/// Whole numbers in the order of real ones, so that terms compare both alike. -0 and 0 are equal; not for NaN.
constexpr std::uint64_t real_key(double number) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  const auto bits = std::bit_cast<std::uint64_t>(number + 0.0);
  return (bits & kSign) != 0 ? ~bits : bits | kSign;
}
constexpr double real_of(std::uint64_t key) {
  constexpr std::uint64_t kSign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((key & kSign) != 0 ? key & ~kSign : ~key);
}

}  // namespace eventloom
