#include "core/definitions/hit_search.hpp"

#include <algorithm>
#include <cstddef>

namespace eventloom {

namespace {

/// Linear steps before the search becomes exponential: events of few hits then cost one mispredicted branch.
constexpr std::size_t kNear = 16;

}  // namespace

std::uint32_t seek_forward(std::span<const HitKey> keys, std::uint32_t from, Tick tick) {
  std::size_t low = from;
  const std::size_t near = std::min(low + kNear, keys.size());
  while (low < near && tick_of(keys[low]) < tick) ++low;
  if (low < near) return static_cast<std::uint32_t>(low);
  std::size_t step = kNear;
  while (low + step <= keys.size() && tick_of(keys[low + step - 1]) < tick) {
    low += step;
    step *= 2;
  }
  const auto rest = keys.subspan(low, std::min(step, keys.size() - low));
  const auto at = std::ranges::partition_point(rest, [tick](HitKey key) { return tick_of(key) < tick; });
  return static_cast<std::uint32_t>(low + static_cast<std::size_t>(at - rest.begin()));
}

std::uint32_t seek_backward(std::span<const HitKey> keys, std::uint32_t from, Tick tick) {
  std::size_t high = from;
  const std::size_t near = high - std::min(high, kNear);
  while (high > near && tick_of(keys[high - 1]) >= tick) --high;
  if (high > near) return static_cast<std::uint32_t>(high);
  std::size_t step = kNear;
  while (high >= step && tick_of(keys[high - step]) >= tick) {
    high -= step;
    step *= 2;
  }
  return seek_forward(keys.first(high), static_cast<std::uint32_t>(high - std::min(step, high)), tick);
}

}  // namespace eventloom
