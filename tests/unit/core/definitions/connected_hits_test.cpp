#include "core/definitions/connected_hits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "core/definitions/pixel_table.hpp"

namespace eventloom::test {

namespace {

using Sets = std::vector<std::vector<std::uint32_t>>;

Sets sets_of(std::span<const PlacedKey> hits, Neighbourhood near, Tick longest, std::uint64_t least = 1) {
  const auto sets = connected_sets(hits, near, longest, least);
  Sets all;
  for (std::size_t s = 0; s < sets.size(); ++s) all.emplace_back(sets[s].begin(), sets[s].end());
  return all;
}

/// The hits connected with `first` through hits from `begin` to the tick `end`, by repeated comparison of all pairs.
std::vector<std::uint32_t> reached(std::span<const PlacedKey> hits, Neighbourhood near, std::uint32_t first, Tick begin,
                                   Tick end) {
  std::vector<bool> in(hits.size());
  in[first] = true;
  for (bool grows = true; grows;) {
    grows = false;
    for (std::uint32_t a = 0; a < hits.size(); ++a) {
      for (std::uint32_t b = 0; b < hits.size() && in[a]; ++b) {
        if (in[b] || hits[b].tick < begin || hits[b].tick > end) continue;
        if (!near.links(hits[std::min(a, b)], hits[std::max(a, b)])) continue;
        in[b] = grows = true;
      }
    }
  }
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < hits.size(); ++i) {
    if (in[i]) all.push_back(i);
  }
  return all;
}

/// Every set by its definition: a hit opens one if no earlier hit is connected with it through hits up to `longest`
/// later, and at least `least` at any time.
Sets expected(std::span<const PlacedKey> hits, Neighbourhood near, Tick longest, std::size_t least = 1) {
  Sets sets;
  for (std::uint32_t first = 0; first < hits.size(); ++first) {
    const Tick end = hits[first].tick + longest;
    if (reached(hits, near, first, 0, end).front() != first) continue;
    if (reached(hits, near, first, 0, std::numeric_limits<Tick>::max()).size() < least) continue;
    sets.push_back(reached(hits, near, first, hits[first].tick, end));
  }
  return sets;
}

std::vector<PlacedKey> random_hits(unsigned seed, std::size_t n, unsigned span) {
  std::mt19937 random(seed);
  std::vector<PlacedKey> hits(n);
  for (auto& hit : hits) {
    hit.tick = Tick(random() % span);
    hit.plane = random() % 2;
    hit.at = {static_cast<double>(random() % 5), static_cast<double>(random() % 5), static_cast<double>(random() % 2)};
  }
  std::ranges::stable_sort(hits, {}, &PlacedKey::tick);
  return hits;
}

}  // namespace

TEST(ConnectedHits, AreThoseOfAllPairs) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    const auto hits = random_hits(seed, 60, 400);
    const Neighbourhood near{Tick(10 + seed), 1.0 + 0.5 * (seed % 4)};
    EXPECT_EQ(sets_of(hits, near, Tick(10'000)), expected(hits, near, Tick(10'000))) << seed;
  }
}

/// Dense pixels on three chips and at their edges: the result equals that of the grid, which is compared with all pairs
/// above.
TEST(ConnectedHits, OfPixelsAreThoseOfTheGrid) {
  std::mt19937 random(5);
  std::vector<PlacedKey> hits(6000);
  for (auto& hit : hits) {
    const auto at = [&random] { return static_cast<double>((random() % 2) * 250 + random() % 6); };
    hit = {Tick(random() % 20'000),
           random() % 50 == 0 ? kAlonePlane + static_cast<std::uint64_t>(&hit - hits.data()) : random() % 3 * 4096,
           {at(), at(), 0}};
  }
  std::ranges::stable_sort(hits, {}, &PlacedKey::tick);
  for (const double radius : {0., 1., 1.5, 2.9, 3.9}) {
    for (const Tick time : {Tick(0), Tick(7), Tick(60)}) {
      const Neighbourhood pixels{time, radius, true};
      ASSERT_TRUE(PixelTable::suits(hits, pixels));
      EXPECT_EQ(sets_of(hits, pixels, Tick(10'000)), sets_of(hits, {time, radius, false}, Tick(10'000)));
    }
  }
}

/// Each cut set has one more hit, which shows that it was longer.
TEST(ConnectedHits, LongSetsAreCutByTheirDefinition) {
  std::size_t cut = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    const auto hits = random_hits(seed, 60, 300);
    const Neighbourhood near{Tick(15), 1.5};
    const Tick longest(40);
    const std::size_t least = 1 + seed % 8;
    auto sets = sets_of(hits, near, longest, least);
    for (auto& set : sets) {
      if (hits[set.back()].tick - hits[set.front()].tick <= longest) continue;
      ++cut;
      set.pop_back();
      ASSERT_LE(hits[set.back()].tick - hits[set.front()].tick, longest);
    }
    EXPECT_EQ(sets, expected(hits, near, longest, least)) << seed;
  }
  EXPECT_GE(cut, 3U);
}

TEST(ConnectedHits, PlacesMayBeFarApartAndNegative) {
  std::vector<PlacedKey> hits = {
      {0, 0, {-1e9, 0, 0}}, {1, 0, {1e9, 0, 0}}, {2, 0, {-1e9 + 0.5, 0, 0}}, {3, 0, {0, 0, -0.25}}};
  EXPECT_EQ(sets_of(hits, {Tick(10), 0.5}, Tick(100)), (Sets{{0, 2}, {1}, {3}}));
  EXPECT_EQ(sets_of(hits, {Tick(1), 0.5}, Tick(100)), (Sets{{0}, {1}, {2}, {3}})) << "too far apart in time";
}

TEST(ConnectedHits, WithoutARadiusShareTheirPlace) {
  std::vector<PlacedKey> hits = {{0, 0, {1, 2, 3}}, {1, 0, {1, 2, 3}}, {2, 0, {1, 2, 3.001}}, {2, 1, {1, 2, 3}}};
  EXPECT_EQ(sets_of(hits, {Tick(10), 0}, Tick(100)), (Sets{{0, 1}, {2}, {3}}));
  EXPECT_TRUE(sets_of({}, {Tick(10), 0}, Tick(100)).empty());
}

}  // namespace eventloom::test
