#include "core/definitions/neighbours.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace eventloom {

namespace {

struct Extent {
  double least = std::numeric_limits<double>::infinity();
  double most = -std::numeric_limits<double>::infinity();

  void add(double at) {
    least = std::min(least, at);
    most = std::max(most, at);
  }
  [[nodiscard]] double largest() const { return std::max(std::abs(least), std::abs(most)); }
};

/// Width of the cells: at least the radius, and such that the numbers of all cells fit in 31 bits.
double width_of_cells(double radius, double largest) { return std::max({radius, largest / 1e9, 1e-12}); }

}  // namespace

NeighbourGrid::NeighbourGrid(std::span<const PlacedKey> hits, Neighbourhood near)
    : hits_(hits), near_(near), before_(hits.size()) {
  std::array<Extent, 3> extents;
  for (const auto& hit : hits) {
    extents[0].add(hit.at.x);
    extents[1].add(hit.at.y);
    extents[2].add(hit.at.z);
  }
  double largest = 0;
  for (const auto& extent : extents) largest = hits.empty() ? 0 : std::max(largest, extent.largest());
  per_width_ = 1 / width_of_cells(near.radius, largest);
  const auto reach = [&](std::size_t axis) { return extents[axis].most > extents[axis].least ? 1 : 0; };
  for (std::int32_t x = -reach(0); x <= reach(0); ++x) {
    for (std::int32_t y = -reach(1); y <= reach(1); ++y) {
      for (std::int32_t z = -reach(2); z <= reach(2); ++z) steps_.push_back({x, y, z});
    }
  }
  newest_.resize(std::bit_ceil(2 * hits.size() + 2));
  mask_ = newest_.size() - 1;
}

}  // namespace eventloom
