#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions/neighbours.hpp"

namespace eventloom {

/// Finds neighbours among pixels of chips of 256 x 256: the newest hit of each pixel is in a table. Of the earlier
/// neighbours of a hit it finds the newest of each pixel, which is enough to connect all: the others of the same pixel
/// are neighbours of that one.
class PixelTable {
 public:
  /// `hits`: all that will be added, in ascending time; their positions are whole pixels. They must outlive this
  /// object.
  PixelTable(std::span<const PlacedKey> hits, Neighbourhood near);

  /// Whether the table is worth its memory, and the radius small enough to look at each pixel in it.
  static bool suits(std::span<const PlacedKey> hits, Neighbourhood near);

  /// Calls `link(earlier)` with numbers of earlier neighbours of hit `number`, and adds it. Hits must be added in the
  /// order of their numbers, from 0.
  template <class Link>
  void add(std::uint32_t number, Link link) {
    const auto& hit = hits_[number];
    if (hit.plane >= kAlonePlane) return;
    while (hit.tick - hits_[oldest_].tick > near_.time) ++oldest_;
    const std::size_t place = table_of(hit.plane) + place_of(hit);  // may move the tables
    auto* const own = newest_.data() + place;
    for (const auto step : steps_) {
      const std::uint32_t newest = own[step];
      if (newest > oldest_) link(newest - 1);
    }
    *own = number + 1;
  }

 private:
  [[nodiscard]] std::size_t place_of(const PlacedKey& hit) const {
    return (static_cast<std::size_t>(hit.at.y) + reach_) * side_ + static_cast<std::size_t>(hit.at.x) + reach_;
  }
  /// The beginning of a plane's table.
  std::size_t table_of(std::uint64_t plane) {
    if (plane != last_plane_) find_table(plane);
    return last_table_;
  }
  void find_table(std::uint64_t plane);

  std::span<const PlacedKey> hits_;
  Neighbourhood near_;
  std::size_t reach_;                  ///< pixels of the margin on each side
  std::size_t side_;                   ///< pixels in a row, with margins
  std::vector<std::ptrdiff_t> steps_;  ///< lead to the pixels that may hold neighbours, including its own
  std::vector<std::uint64_t> planes_;  ///< planes with a table, in the order of their tables
  std::vector<std::uint32_t> newest_;  ///< number of the newest hit + 1, or 0, of each pixel of each plane
  std::uint64_t last_plane_ = kAlonePlane;
  std::size_t last_table_ = 0;
  std::uint32_t oldest_ = 0;  ///< the first hit that is near enough in time
};

}  // namespace eventloom
