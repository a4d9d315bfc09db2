#include "core/definitions/key_distances.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

#include "each_processor.hpp"

namespace eventloom::test {

namespace {

std::vector<std::uint32_t> starts_of(const std::vector<HitKey>& keys, Tick gap) {
  std::vector<std::uint32_t> starts(keys.size() + kPositionsBehind);
  starts.resize(find_run_starts(keys, gap, starts.data()));
  return starts;
}

std::vector<std::uint32_t> close(const std::vector<HitKey>& keys, std::size_t apart, Tick window) {
  std::vector<std::uint32_t> positions(keys.size() + kPositionsBehind);
  positions.resize(find_close(keys, apart, window, positions.data()));
  return positions;
}

std::vector<std::uint32_t> long_runs(const std::vector<std::uint32_t>& starts, std::uint64_t min_hits) {
  std::vector<std::uint32_t> numbers(starts.size() - 1 + kPositionsBehind);
  numbers.resize(find_long_runs(starts, min_hits, numbers.data()));
  return numbers;
}

std::vector<std::uint32_t> expected_close(const std::vector<HitKey>& keys, std::size_t apart, Tick window) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i + apart < keys.size(); ++i) {
    if (tick_of(keys[i + apart]).value <= tick_of(keys[i]).value + window.value) positions.push_back(i);
  }
  return positions;
}

/// Evaluates the definition hit by hit.
std::vector<std::uint32_t> expected_starts(const std::vector<HitKey>& keys, Tick gap) {
  std::vector<std::uint32_t> starts;
  for (std::uint32_t i = 0; i < keys.size(); ++i) {
    if (i == 0 || tick_of(keys[i]).value > tick_of(keys[i - 1]).value + gap.value) starts.push_back(i);
  }
  return starts;
}

}  // namespace

TEST(KeyDistances, AreThoseOfASimpleSearch) {
  std::mt19937_64 random(3);
  with_each_processor([&] {
    for (std::uint32_t n = 0; n < 400; ++n) {
      std::vector<HitKey> keys;
      std::uint64_t tick = random() % 1000;
      for (std::uint32_t i = 0; i < n; ++i) {
        keys.push_back(make_key(tick, static_cast<std::uint32_t>(random() % kMostHits)));
        tick += random() % 9;
      }
      for (const std::uint64_t gap : {0, 1, 4, 7, 8}) {
        ASSERT_EQ(starts_of(keys, Tick(gap)), expected_starts(keys, Tick(gap))) << n << " hits, gap " << gap;
        for (const std::size_t apart : {0, 1, 3, 70}) {
          ASSERT_EQ(close(keys, apart, Tick(3 * gap)), expected_close(keys, apart, Tick(3 * gap)))
              << n << " hits, " << apart;
        }
      }
    }
  });
}

TEST(KeyDistances, LongRunsHaveAtLeastThatManyHits) {
  std::mt19937 random(5);
  with_each_processor([&] {
    for (std::uint32_t runs = 0; runs < 100; ++runs) {
      std::vector<std::uint32_t> starts{3};
      while (starts.size() <= runs) starts.push_back(starts.back() + 1 + static_cast<std::uint32_t>(random() % 6));
      for (const std::uint64_t min_hits : {0, 1, 3, 6, 7}) {
        std::vector<std::uint32_t> expected;
        for (std::uint32_t r = 0; r < runs; ++r) {
          if (starts[r + 1] - starts[r] >= min_hits) expected.push_back(r);
        }
        ASSERT_EQ(long_runs(starts, min_hits), expected) << runs << " runs, at least " << min_hits << " hits";
      }
    }
    EXPECT_EQ(long_runs({0, 0xffffffff}, 0xffffffff), std::vector<std::uint32_t>{0});
    EXPECT_EQ(long_runs({0, 0xffffffff}, 0x1'0000'0000), std::vector<std::uint32_t>());
  });
}

TEST(KeyDistances, MayBeTheLongest) {
  std::vector<HitKey> keys(200, make_key(0, 1));
  std::fill(keys.begin() + 100, keys.end(), make_key(kMostSliceTicks - 1, 2));
  with_each_processor([&] {
    EXPECT_EQ(starts_of(keys, Tick(kMostSliceTicks - 2)), (std::vector<std::uint32_t>{0, 100}));
    EXPECT_EQ(starts_of(keys, Tick(kMostSliceTicks - 1)), (std::vector<std::uint32_t>{0}));
    EXPECT_EQ(starts_of(keys, Tick(std::numeric_limits<std::uint64_t>::max())), (std::vector<std::uint32_t>{0}));
  });
}

}  // namespace eventloom::test
