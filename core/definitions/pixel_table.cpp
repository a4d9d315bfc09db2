#include "core/definitions/pixel_table.hpp"

#include <algorithm>
#include <cmath>

namespace eventloom {

namespace {

constexpr std::size_t kChipSide = 256;
/// Farther pixels are many: the lists of a grid are then shorter.
constexpr double kMostReach = 4;
/// Clearing the table of a plane takes longer than searching fewer hits.
constexpr std::size_t kLeastHits = 1024;
constexpr std::size_t kMostPlanes = 64;

}  // namespace

bool PixelTable::suits(std::span<const PlacedKey> hits, Neighbourhood near) {
  if (!near.pixels || !(near.radius < kMostReach)) return false;
  std::vector<std::uint64_t> planes;
  for (const auto& hit : hits) {
    const bool known = hit.plane >= kAlonePlane || (!planes.empty() && planes.back() == hit.plane) ||
                       std::ranges::find(planes, hit.plane) != planes.end();
    if (!known) planes.push_back(hit.plane);
    if (planes.size() > kMostPlanes) return false;
  }
  return hits.size() >= kLeastHits * planes.size();
}

PixelTable::PixelTable(std::span<const PlacedKey> hits, Neighbourhood near)
    : hits_(hits), near_(near), reach_(static_cast<std::size_t>(near.radius)), side_(kChipSide + 2 * reach_) {
  const auto reach = static_cast<std::ptrdiff_t>(reach_);
  for (std::ptrdiff_t y = -reach; y <= reach; ++y) {
    for (std::ptrdiff_t x = -reach; x <= reach; ++x) {
      const auto distance = static_cast<double>(x * x + y * y);
      if (distance <= near.radius * near.radius) steps_.push_back(y * static_cast<std::ptrdiff_t>(side_) + x);
    }
  }
}

void PixelTable::find_table(std::uint64_t plane) {
  const auto at = std::ranges::find(planes_, plane);
  last_plane_ = plane;
  last_table_ = static_cast<std::size_t>(at - planes_.begin()) * side_ * side_;
  if (at != planes_.end()) return;
  planes_.push_back(plane);
  newest_.resize(planes_.size() * side_ * side_);
}

}  // namespace eventloom
