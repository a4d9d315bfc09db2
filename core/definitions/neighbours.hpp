#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions/event_definition.hpp"
#include "core/detector/detector.hpp"

namespace eventloom {

/// Planes from this one on hold one hit each.
inline constexpr std::uint64_t kAlonePlane = std::uint64_t{1} << 32;

/// A hit with the place that decides which hits are its neighbours.
struct PlacedKey {
  Tick tick = 0;
  std::uint64_t plane = 0;  ///< hits of different planes are not neighbours
  Position at;
};

/// Which hits are neighbours: |dt| <= `time`, and a distance of at most `radius`.
struct Neighbourhood {
  Tick time = 0;
  double radius = 0;
  bool pixels = false;  ///< positions are whole numbers of pixels, from 0 to 255

  /// `later` is not earlier than `earlier`.
  [[nodiscard]] bool links(const PlacedKey& earlier, const PlacedKey& later) const {
    if (earlier.plane != later.plane || later.tick - earlier.tick > time) return false;
    const double x = earlier.at.x - later.at.x;
    const double y = earlier.at.y - later.at.y;
    const double z = earlier.at.z - later.at.z;
    return x * x + y * y + z * z <= radius * radius;
  }
};

/// Finds the earlier neighbours of hits that are added in ascending time: the hits of each cell of a grid, whose cells
/// are as wide as the radius, form a list that is followed back in time.
class NeighbourGrid {
 public:
  /// `hits`: all that will be added; they must outlive this object.
  NeighbourGrid(std::span<const PlacedKey> hits, Neighbourhood near);

  /// Calls `link(earlier)` with the number of each earlier neighbour of hit `number`, and adds it.
  template <class Link>
  void add(std::uint32_t number, Link link) {
    const auto& hit = hits_[number];
    const auto cell = cell_of(hit);
    for (const auto& step : steps_) {
      const std::uint32_t head = newest_[find(moved(cell, step))].hit;
      for (std::uint32_t i = head; i != kNone && hit.tick - hits_[i].tick <= near_.time; i = before_[i]) {
        if (near_.links(hits_[i], hit)) link(i);
      }
    }
    auto& own = newest_[find(cell)];
    own.cell = cell;
    before_[number] = own.hit;
    own.hit = number;
  }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Cell {
    std::int32_t x = 0;
    std::int32_t y = 0;
    std::int32_t z = 0;
    std::uint64_t plane = 0;
    friend bool operator==(const Cell&, const Cell&) = default;
  };
  /// A place of the hash table: the newest hit of a cell; kNone: free.
  struct Newest {
    Cell cell;
    std::uint32_t hit = kNone;
  };
  using Step = std::array<std::int32_t, 3>;

  [[nodiscard]] Cell cell_of(const PlacedKey& hit) const {
    const auto index = [this](double at) { return static_cast<std::int32_t>(std::floor(at * per_width_)); };
    return {index(hit.at.x), index(hit.at.y), index(hit.at.z), hit.plane};
  }
  static Cell moved(const Cell& cell, const Step& by) {
    return {cell.x + by[0], cell.y + by[1], cell.z + by[2], cell.plane};
  }
  /// The place of the cell, or the free place where it belongs.
  [[nodiscard]] std::size_t find(const Cell& cell) const {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15ULL;  // 2^64 over the golden ratio: spreads neighbours
    std::uint64_t hash = cell.plane;
    for (const auto part : {cell.x, cell.y, cell.z}) hash = (hash ^ static_cast<std::uint32_t>(part)) * kOdd;
    auto place = static_cast<std::size_t>(hash >> 32) & mask_;
    while (newest_[place].hit != kNone && newest_[place].cell != cell) place = (place + 1) & mask_;
    return place;
  }

  std::span<const PlacedKey> hits_;
  Neighbourhood near_;
  double per_width_;            ///< cells in a unit of length
  std::vector<Step> steps_;     ///< lead to the cells that may hold neighbours, including its own
  std::vector<Newest> newest_;  ///< hash table with linear probing
  std::size_t mask_;
  std::vector<std::uint32_t> before_;  ///< indexed by hit: the one added before it to its cell
};

}  // namespace eventloom
