#include "core/definitions/causal_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace eventloom::test {

namespace {

bool partners(const PlacedHit& a, const PlacedHit& b, double speed, Tick slack) {
  const double dt = std::abs(static_cast<double>(a.time) - static_cast<double>(b.time));
  const double dr = std::hypot(a.place.x - b.place.x, a.place.y - b.place.y, a.place.z - b.place.z);
  return dt <= dr / speed + static_cast<double>(slack);
}

/// Recounts all partners after each removed hit.
std::size_t by_hand(std::vector<PlacedHit> hits, double speed, Tick slack) {
  for (;;) {
    std::size_t fewest = hits.size();
    std::size_t which = 0;
    for (std::size_t i = 0; i < hits.size(); ++i) {
      std::size_t n = 0;
      for (std::size_t j = 0; j < hits.size(); ++j) n += i != j && partners(hits[i], hits[j], speed, slack) ? 1 : 0;
      if (n > fewest) continue;
      fewest = n;
      which = i;
    }
    if (hits.empty() || fewest + 1 == hits.size()) return hits.size();
    hits.erase(hits.begin() + static_cast<std::ptrdiff_t>(which));
  }
}

}  // namespace

TEST(CausalSet, ByHand) {
  EXPECT_EQ(causal_set_size({}, 0.3, 20), 0U);
  EXPECT_EQ(causal_set_size(std::vector<PlacedHit>{{5, {}}}, 0.3, 20), 1U);
  // 30 m at 0.3 m/ns are 100 ns.
  EXPECT_EQ(causal_set_size(std::vector<PlacedHit>{{0, {0, 0, 0}}, {100, {0, 30, 0}}}, 0.3, 0), 2U);
  EXPECT_EQ(causal_set_size(std::vector<PlacedHit>{{0, {0, 0, 0}}, {101, {0, 30, 0}}}, 0.3, 0), 1U);
  EXPECT_EQ(causal_set_size(std::vector<PlacedHit>{{0, {0, 0, 0}}, {120, {0, 30, 0}}}, 0.3, 20), 2U);
  EXPECT_EQ(causal_set_size(std::vector<PlacedHit>{{0, {0, 0, 0}}, {121, {0, 30, 0}}}, 0.3, 20), 1U);
}

TEST(CausalSet, OfEqualsTheLastGoes) {
  // Three hits at 0, 10, 20 in one place with a slack of 10: the middle one is a partner of both, the outer ones have
  // one each. Removing the last one leaves two, as does removing the first; removing the middle one would leave one.
  EXPECT_EQ(causal_set_size(std::vector<PlacedHit>{{0, {}}, {10, {}}, {20, {}}}, 1, 10), 2U);
  // Four in a row: the outer ones have one partner. 0 10 20 30 -> 0 10 20 -> 0 10.
  EXPECT_EQ(causal_set_size(std::vector<PlacedHit>{{0, {}}, {10, {}}, {20, {}}, {30, {}}}, 1, 10), 2U);
}

TEST(CausalSet, AgreesWithRecounting) {
  std::mt19937_64 random(15);
  const auto draw = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int i = 0; i < 2000; ++i) {
    std::vector<PlacedHit> hits;
    Tick time = 1'000'000;
    for (auto n = draw(14); n > 0; --n) {
      hits.push_back(
          {time, {static_cast<double>(draw(4)), static_cast<double>(draw(4)), static_cast<double>(draw(9))}});
      time += Tick(draw(12));
    }
    const Tick slack(draw(15));
    const double speed = 0.1 + 0.1 * static_cast<double>(draw(10));
    ASSERT_EQ(causal_set_size(hits, speed, slack), by_hand(hits, speed, slack)) << i;
  }
}

}  // namespace eventloom::test
