#include "formats/slice_set.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <stdexcept>

namespace eventloom {
namespace {

using Runs = std::vector<SliceRun>;

constexpr std::uint64_t kHighest = std::numeric_limits<std::uint64_t>::max();

Runs packed(const std::set<std::uint64_t>& slices) {
  SliceRuns runs;
  for (const auto slice : slices) runs.add(SliceId{slice});
  return runs.runs();
}

/// A SliceSet by its plain definition.
struct Expected {
  std::uint64_t begin = 0;
  std::set<std::uint64_t> slices;

  [[nodiscard]] bool contains(std::uint64_t slice) const { return slice < begin || slices.contains(slice); }
  [[nodiscard]] std::uint64_t next_missing(std::uint64_t from) const {
    while (contains(from)) ++from;
    return from;
  }
  [[nodiscard]] std::uint64_t end() const {
    return slices.empty() ? begin : std::max(next_missing(begin), *slices.rbegin() + 1);
  }
};

void expect_same(const SliceSet& set, const Expected& expected) {
  const auto frontier = expected.next_missing(0);
  EXPECT_EQ(set.frontier().value, frontier);
  EXPECT_EQ(set.end().value, expected.end());
  EXPECT_EQ(set.size_beyond(),
            static_cast<std::uint64_t>(std::distance(expected.slices.upper_bound(frontier), expected.slices.end())));
  for (std::uint64_t slice = 0; slice < expected.end() + 130; ++slice) {
    ASSERT_EQ(set.contains(SliceId{slice}), expected.contains(slice)) << slice;
    ASSERT_EQ(set.next_missing(SliceId{slice}).value, expected.next_missing(slice)) << slice;
  }
}

SliceSet set_of(std::uint64_t begin, const Runs& runs) { return {SliceId{begin}, runs}; }

TEST(SliceRuns, PackWhatBuildersGetInTurn) {
  EXPECT_EQ(packed({}), Runs{});
  EXPECT_EQ(packed({7}), (Runs{{7, 1, 1}}));
  EXPECT_EQ(packed({3, 4, 5, 6}), (Runs{{3, 1, 4}}));
  EXPECT_EQ(packed({2, 5, 8, 11}), (Runs{{2, 3, 4}}));
  EXPECT_EQ(packed({2, 5, 8, 9, 10, 20}), (Runs{{2, 3, 3}, {9, 1, 2}, {20, 1, 1}}));
  EXPECT_EQ(packed({kHighest - 2, kHighest}), (Runs{{kHighest - 2, 2, 2}}));
}

TEST(SliceRuns, MustRise) {
  SliceRuns runs;
  runs.add(SliceId{5});
  EXPECT_THROW(runs.add(SliceId{5}), std::logic_error);
  EXPECT_THROW(runs.add(SliceId{4}), std::logic_error);
  runs.add(SliceId{7});
  EXPECT_THROW(runs.add(SliceId{6}), std::logic_error);
  EXPECT_EQ(runs.runs(), (Runs{{5, 2, 2}}));
}

TEST(SliceSet, EmptyBeginsWhereItIsTold) {
  EXPECT_EQ(SliceSet(), set_of(0, {}));
  expect_same(SliceSet(), {});
  expect_same(set_of(100, {}), {100, {}});
  expect_same(set_of(128, {{500, 3, 0}, {2, 0, 0}}), {128, {}});
  EXPECT_EQ(set_of(kHighest, {}).frontier().value, kHighest);
}

TEST(SliceSet, FrontierAndWhatLiesBeyond) {
  const auto set = set_of(10, {{14, 2, 3}, {10, 1, 3}});
  EXPECT_EQ(set.frontier().value, 13U);
  EXPECT_EQ(set.end().value, 19U);
  EXPECT_EQ(set.size_beyond(), 3U);
  EXPECT_EQ(set.beyond(), (Runs{{14, 2, 3}}));
  expect_same(set, {10, {10, 11, 12, 14, 16, 18}});
}

TEST(SliceSet, FrontierAtEdgesOfWords) {
  for (const std::uint64_t begin : {0, 1, 63, 64, 65, 127, 128}) {
    for (const std::uint64_t n : {1, 62, 63, 64, 65, 128, 190}) {
      Expected expected{begin, {}};
      for (std::uint64_t i = 0; i < n; ++i) expected.slices.insert(begin + i);
      expect_same(set_of(begin, {{begin, 1, n}}), expected);
      expected.slices.insert(begin + n + 1);
      expect_same(set_of(begin, {{begin, 1, n}, {begin + n + 1, 7, 1}}), expected);
    }
  }
}

TEST(SliceSet, AnySetOfRunsMeansItsSlices) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 200; ++round) {
    Expected expected{random() % 200, {}};
    Runs runs;
    const auto builders = 1 + random() % 5;
    const auto missing_of_256 = random() % 40;
    for (std::uint64_t b = 0; b < builders; ++b) {
      SliceRuns of_builder;
      for (auto slice = expected.begin + b; slice < expected.begin + 400; slice += builders) {
        if (random() % 256 < missing_of_256) continue;
        of_builder.add(SliceId{slice});
        expected.slices.insert(slice);
      }
      runs.insert(runs.end(), of_builder.runs().begin(), of_builder.runs().end());
    }
    std::ranges::shuffle(runs, random);
    const auto set = set_of(expected.begin, runs);
    expect_same(set, expected);
    EXPECT_EQ(SliceSet(set.frontier(), set.beyond()), set);
  }
}

TEST(SliceSet, ASliceInTwoRunsIsRefused) {
  EXPECT_THROW(set_of(0, {{0, 1, 10}, {9, 1, 1}}), std::invalid_argument);
  EXPECT_THROW(set_of(0, {{5, 2, 10}, {6, 3, 2}}), std::invalid_argument);
  EXPECT_THROW(set_of(0, {{5, 2, 3}, {0, 1, 100}}), std::invalid_argument);
  EXPECT_THROW(set_of(0, {{5, 0, 2}}), std::invalid_argument);
  EXPECT_NO_THROW(set_of(0, {{5, 0, 1}}));
  // Far ahead, where the earlier windows have been dropped.
  const std::uint64_t far = 50'000'000;
  EXPECT_NO_THROW(set_of(0, {{0, 1, far}, {far, 1, 1}}));
  EXPECT_THROW(set_of(0, {{0, 1, far}, {far - 1, 1, 1}}), std::invalid_argument);
  try {
    set_of(64, {{70, 1, 60}, {100, 1, 5}});
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "slice 100 is in two runs");
  }
}

TEST(SliceSet, RunsOutOfTheNumbersAreRefused) {
  EXPECT_THROW(set_of(10, {{9, 1, 5}}), std::invalid_argument);
  EXPECT_THROW(set_of(10, {{9, 5, 5}}), std::invalid_argument);
  EXPECT_THROW(set_of(0, {{1, kHighest, 2}}), std::invalid_argument);
  EXPECT_THROW(set_of(0, {{0, 2, std::uint64_t{1} << 63}}), std::invalid_argument);
  EXPECT_THROW(set_of(0, {{0, std::uint64_t{1} << 60, std::uint64_t{1} << 60}}), std::invalid_argument);
  EXPECT_THROW(set_of(kHighest - 1, {{kHighest - 1, 1, 2}}), std::invalid_argument);
  const auto set = set_of(kHighest - 70, {{kHighest - 69, 1, 69}});
  EXPECT_EQ(set.end().value, kHighest);
  EXPECT_EQ(set.next_missing(SliceId{kHighest - 69}).value, kHighest);
  EXPECT_EQ(set.size_beyond(), 69U);
}

TEST(SliceSet, MoreSlicesThanARunCanHaveAreRefused) {
  EXPECT_THROW(set_of(0, {{0, 1, std::uint64_t{1} << 60}}), std::invalid_argument);
  EXPECT_THROW(set_of(7, {{7, 1, kMaxSlices}, {7 + kMaxSlices, 1, 1}}), std::invalid_argument);
  EXPECT_THROW(set_of(0, {{0, 3, kMaxSlices / 2}, {1, 3, kMaxSlices / 2 + 1}}), std::invalid_argument);
}

TEST(SliceSet, GapsMayBeOfAnyLength) {
  constexpr std::uint64_t kFar = 1'000'000'000'000'000;
  const auto set = set_of(7, {{7, 1, 3}, {kFar, 2, 3}, {kFar + 1, kFar, 3}});
  EXPECT_EQ(set.frontier().value, 10U);
  EXPECT_EQ(set.end().value, 3 * kFar + 2);
  EXPECT_EQ(set.size_beyond(), 6U);
  EXPECT_FALSE(set.contains({kFar - 1}));
  EXPECT_TRUE(set.contains({kFar}));
  EXPECT_EQ(set.next_missing({kFar}), SliceId{kFar + 3});
  EXPECT_EQ(set.next_missing({2 * kFar + 1}), SliceId{2 * kFar + 2});
  EXPECT_EQ(set.next_missing({2 * kFar + 9}), SliceId{2 * kFar + 9});
  EXPECT_EQ(SliceSet(set.frontier(), set.beyond()), set);
}

TEST(SliceSet, ALongFinishedPartTakesNoMemory) {
  const auto n = std::uint64_t{1} << 33;
  const auto set = set_of(0, {{0, 1, n}, {n + 1, 1, 1}});
  EXPECT_EQ(set.frontier().value, n);
  EXPECT_EQ(set.beyond(), (Runs{{n + 1, 1, 1}}));
}

/// Ten million slices by 7 builders whose parts end at different places; one builder is behind.
TEST(SliceSet, ManySlicesOfBuildersInTurn) {
  constexpr std::uint64_t kBuilders = 7;
  constexpr std::uint64_t kSlices = 10'000'000 / kBuilders;
  Runs runs;
  for (std::uint64_t b = 0; b < kBuilders; ++b) runs.push_back({1000 + b, kBuilders, kSlices - 1000 * b});
  runs.push_back({1000 + kBuilders * (kSlices - 3000) + 3, kBuilders, 3000});
  const auto set = set_of(1000, runs);
  EXPECT_EQ(set.frontier().value, 1000 + kBuilders * (kSlices - 6000) + 6);
  EXPECT_EQ(set.end().value, 1000 + kBuilders * (kSlices - 1) + 3 + 1);
  EXPECT_EQ(set.size_beyond(), 5999U + 4999U + 3999U + 5999U + 1999U + 999U);
  EXPECT_EQ(SliceSet(set.frontier(), set.beyond()), set);
}

TEST(SliceSet, InBothOfTwo) {
  std::mt19937 random(7);
  for (int n = 0; n < 200; ++n) {
    Expected a{random() % 5, {}};
    Expected b{random() % 5, {}};
    for (std::uint64_t slice = 5; slice < 200; ++slice) {
      if (random() % 8 != 0) a.slices.insert(slice);
      if (random() % 4 != 0) b.slices.insert(slice);
    }
    const auto both = in_both(set_of(a.begin, packed(a.slices)), set_of(b.begin, packed(b.slices)));
    for (std::uint64_t slice = 0; slice < 250; ++slice) {
      ASSERT_EQ(both.contains(SliceId{slice}), a.contains(slice) && b.contains(slice)) << slice;
    }
  }
}

}  // namespace
}  // namespace eventloom
