#include "app/tools/align/pair_solution.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace eventloom {
namespace {

TEST(PairSolution, TwoUnitsDifferByTheirDifference) {
  std::vector<PairDifference> pairs = {{0, 1, 12.5, 0.5}};
  const auto solved = solve_pairs(2, 0, pairs, 0);
  EXPECT_EQ(solved[0]->value, 0);
  EXPECT_DOUBLE_EQ(solved[1]->value, 12.5);
  EXPECT_DOUBLE_EQ(solved[1]->error, 0.5);
}

/// Two paths lead from 0 to 2: the direct one with an error of 1, and one through unit 1 with an error of sqrt(2).
/// Their weighted mean is (1 * 10 + 0.5 * 13) / 1.5, its error sqrt(1 / 1.5).
TEST(PairSolution, WaysAreWeightedByTheirErrors) {
  std::vector<PairDifference> pairs = {{0, 2, 10, 1}, {0, 1, 6, 1}, {1, 2, 7, 1}};
  const auto solved = solve_pairs(3, 0, pairs, 100);
  EXPECT_NEAR(solved[2]->value, 11, 1e-12);
  const double chi_squared = 1 * 1 + 2 * 1 * 1;  // residuals of 1 on each, one degree of freedom
  EXPECT_NEAR(solved[2]->error, std::sqrt(1 / 1.5) * std::sqrt(chi_squared), 1e-12);
}

TEST(PairSolution, OtherReferencesShiftTheValues) {
  std::vector<PairDifference> pairs = {{0, 1, 5, 1}, {1, 2, -2, 1}};
  const auto solved = solve_pairs(3, 2, pairs, 0);
  EXPECT_DOUBLE_EQ(solved[0]->value, -3);
  EXPECT_DOUBLE_EQ(solved[1]->value, 2);
  EXPECT_EQ(solved[2]->value, 0);
}

TEST(PairSolution, UnitsWithoutAWayAreUnknown) {
  std::vector<PairDifference> pairs = {{0, 1, 5, 1}, {2, 3, 1, 1}};
  const auto solved = solve_pairs(5, 0, pairs, 0);
  EXPECT_TRUE(solved[1]);
  EXPECT_FALSE(solved[2]);
  EXPECT_FALSE(solved[3]);
  EXPECT_FALSE(solved[4]);
}

/// All pairs of 8 units agree except one, which a peak of chance coincidences has shifted.
TEST(PairSolution, APairThatContradictsTheOthersIsLeftOut) {
  std::vector<PairDifference> pairs;
  for (std::uint32_t a = 0; a < 8; ++a) {
    for (std::uint32_t b = a + 1; b < 8; ++b) pairs.push_back({a, b, 10.0 * (b - a), 0.1});
  }
  pairs[4].value += 700;
  const auto solved = solve_pairs(8, 0, pairs, 1);
  for (std::uint32_t unit = 0; unit < 8; ++unit) EXPECT_NEAR(solved[unit]->value, 10.0 * unit, 1e-9);
  for (std::size_t pair = 0; pair < pairs.size(); ++pair) EXPECT_EQ(pairs[pair].used, pair != 4) << pair;
}

}  // namespace
}  // namespace eventloom
