#include "core/definitions/connected_hits.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "core/definitions/pixel_table.hpp"

namespace eventloom {

namespace {

using Numbers = std::span<const std::uint32_t>;

/// Which set each hit belongs to, by the number of the first hit of the set (union-find, Tarjan 1975, with path
/// halving). A parent is never later than its hit.
class Roots {
 public:
  explicit Roots(std::size_t n) : parents_(n) { std::iota(parents_.begin(), parents_.end(), 0U); }

  std::uint32_t of(std::uint32_t hit) {
    while (parents_[hit] != hit) hit = parents_[hit] = parents_[parents_[hit]];
    return hit;
  }
  /// Joins the sets of two roots, and returns the root of both.
  std::uint32_t join(std::uint32_t a, std::uint32_t b) {
    const auto [first, second] = std::minmax({a, b});
    return parents_[second] = first;
  }
  /// Numbers the sets in the order of their first hits, and returns the set of each hit. No other call may follow.
  std::vector<std::uint32_t> number_sets() {
    std::uint32_t n = 0;
    for (std::uint32_t hit = 0; hit < parents_.size(); ++hit) {
      const auto parent = parents_[hit];
      parents_[hit] = parent == hit ? n++ : parents_[parent];
    }
    return std::move(parents_);
  }

 private:
  std::vector<std::uint32_t> parents_;
};

template <class Grid>
void join_neighbours(std::span<const PlacedKey> hits, Neighbourhood near, Roots& roots) {
  Grid grid(hits, near);
  for (std::uint32_t i = 0; i < hits.size(); ++i) {
    std::uint32_t root = i;
    grid.add(i, [&](std::uint32_t earlier) { root = roots.join(roots.of(earlier), root); });
  }
}

/// Omits sets of fewer hits than `least`.
HitSets all_sets(std::span<const PlacedKey> hits, Neighbourhood near, std::uint64_t least) {
  const auto n = static_cast<std::uint32_t>(hits.size());
  Roots roots(n);
  if (PixelTable::suits(hits, near)) {
    join_neighbours<PixelTable>(hits, near, roots);
  } else {
    join_neighbours<NeighbourGrid>(hits, near, roots);
  }
  const auto set_of = roots.number_sets();
  std::vector<std::size_t> sizes(n == 0 ? 0 : std::ranges::max(set_of) + 1);
  for (const auto set : set_of) ++sizes[set];
  HitSets sets;
  std::vector<std::size_t> next;  // place of the next hit of each set
  for (const auto size : sizes) {
    next.push_back(sets.begins.back());
    if (size >= least) sets.begins.push_back(next.back() + size);
  }
  sets.hits.resize(sets.begins.back());
  for (std::uint32_t i = 0; i < n; ++i) {
    if (sizes[set_of[i]] >= least) sets.hits[next[set_of[i]]++] = i;
  }
  return sets;
}

/// Cuts one long set. Its neighbours are found by comparison, as such sets are rare.
class LongSet {
 public:
  LongSet(std::span<const PlacedKey> hits, Numbers set, Neighbourhood near, Tick longest)
      : hits_(hits), set_(set), near_(near), longest_(longest) {}

  /// The set that begins with the hit in place `first` of the long set; std::nullopt if none does.
  [[nodiscard]] std::optional<std::vector<std::uint32_t>> from(std::size_t first) const {
    const Tick end = at(first).tick + longest_;
    std::vector<std::size_t> reached = {first};
    std::vector<bool> seen(set_.size());
    seen[first] = true;
    std::optional<std::size_t> later;
    for (std::size_t next = 0; next < reached.size(); ++next) {
      const auto place = reached[next];
      for (std::size_t i = first_near(place); i < set_.size() && at(i).tick <= at(place).tick + near_.time; ++i) {
        if (seen[i] || !are_linked(i, place)) continue;
        if (i < first) return std::nullopt;
        seen[i] = true;
        if (at(i).tick <= end) {
          reached.push_back(i);
        } else {
          later = later ? std::min(*later, i) : i;
        }
      }
    }
    std::ranges::sort(reached);
    if (later) reached.push_back(*later);
    std::vector<std::uint32_t> numbers;
    for (const auto place : reached) numbers.push_back(set_[place]);
    return numbers;
  }

 private:
  [[nodiscard]] const PlacedKey& at(std::size_t place) const { return hits_[set_[place]]; }
  [[nodiscard]] std::size_t first_near(std::size_t place) const {
    const Tick from = at(place).tick - std::min(at(place).tick, near_.time);
    const auto begin = std::ranges::lower_bound(set_, from, {}, [&](std::uint32_t hit) { return hits_[hit].tick; });
    return static_cast<std::size_t>(begin - set_.begin());
  }
  [[nodiscard]] bool are_linked(std::size_t a, std::size_t b) const {
    return near_.links(at(std::min(a, b)), at(std::max(a, b)));
  }

  std::span<const PlacedKey> hits_;
  Numbers set_;
  Neighbourhood near_;
  Tick longest_;
};

}  // namespace

HitSets connected_sets(std::span<const PlacedKey> hits, Neighbourhood near, Tick longest, std::uint64_t least) {
  auto all = all_sets(hits, near, least);
  const auto is_long = [&](Numbers set) { return hits[set.back()].tick - hits[set.front()].tick > longest; };
  std::vector<std::vector<std::uint32_t>> sets;
  bool any = false;
  for (std::size_t s = 0; s < all.size() && !any; ++s) any = is_long(all[s]);
  if (!any) return all;
  for (std::size_t s = 0; s < all.size(); ++s) {
    const auto set = all[s];
    if (!is_long(set)) {
      sets.emplace_back(set.begin(), set.end());
      continue;
    }
    const LongSet cut(hits, set, near, longest);
    for (std::size_t first = 0; first < set.size(); ++first) {
      if (auto found = cut.from(first)) sets.push_back(std::move(*found));
    }
  }
  std::ranges::sort(sets, {}, [](const auto& set) { return set.front(); });
  HitSets cut;
  for (const auto& set : sets) cut.add(set);
  return cut;
}

}  // namespace eventloom
