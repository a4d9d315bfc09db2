#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/definitions/neighbours.hpp"

namespace eventloom {

/// Sets of hits: set s has the numbers hits[begins[s]] to hits[begins[s + 1] - 1], ascending.
struct HitSets {
  std::vector<std::uint32_t> hits;
  std::vector<std::size_t> begins = {0};

  [[nodiscard]] std::size_t size() const { return begins.size() - 1; }
  [[nodiscard]] std::span<const std::uint32_t> operator[](std::size_t set) const {
    return std::span(hits).subspan(begins[set], begins[set + 1] - begins[set]);
  }
  void add(std::span<const std::uint32_t> set) {
    hits.insert(hits.end(), set.begin(), set.end());
    begins.push_back(hits.size());
  }
};

/// The sets of at least `least` hits that are connected through neighbours, in the order of their first hits. `hits`
/// ascends in time; the sets refer to hits by their positions in it.
///
/// A set longer than `longest` is replaced by sets that begin in it: one for each hit that is not connected with an
/// earlier one through hits up to `longest` later. It consists of the hits connected with that hit in that time, and of
/// one later hit, which shows that the set was longer. `least` applies to the whole set.
HitSets connected_sets(std::span<const PlacedKey> hits, Neighbourhood near, Tick longest, std::uint64_t least);

}  // namespace eventloom
