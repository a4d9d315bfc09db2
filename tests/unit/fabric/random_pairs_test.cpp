#include "core/fabric/random_pairs.hpp"

#include <gtest/gtest.h>

#include "tests/unit/fabric/leaf_spine_routes.hpp"

namespace eventloom {
namespace {

TEST(RandomPairs, GetAllOfASwitch) {
  for (const std::uint32_t nodes : {2, 7, 8}) {
    const auto rates = random_pairs(leaf_spine(1, nodes, 1), 20, 1);
    EXPECT_DOUBLE_EQ(rates.alone, kLinkRate);
    EXPECT_NEAR(rates.mean, kLinkRate, 1);
    EXPECT_NEAR(rates.slowest, kLinkRate, 1);
  }
}

// Two leaves with two nodes each and one uplink: one pattern in three stays within the leaves; in the others, two flows
// share each link.
TEST(RandomPairs, ShareLinksFairly) {
  const auto rates = random_pairs(leaf_spine(2, 2, 1), 3000, 1);
  EXPECT_NEAR(rates.mean / kLinkRate, 2.0 / 3, 0.02);
  EXPECT_NEAR(rates.slowest / kLinkRate, 2.0 / 3, 0.02);
  EXPECT_EQ(random_pairs(leaf_spine(2, 2, 1), 10, 4).mean, random_pairs(leaf_spine(2, 2, 1), 10, 4).mean);
}

// Capacity that a flow cannot use because of a slow link goes to the flows that share its other links.
TEST(RandomPairs, LeaveToOthersWhatASlowLinkKeepsThemFromUsing) {
  auto fabric = leaf_spine(2, 2, 1);
  fabric.rates[link_called(fabric, "n0_UP")] = 0.2 * kLinkRate;
  fabric.rates[link_called(fabric, "n0_DOWN")] = 0.2 * kLinkRate;
  // Within the leaves: 0.2, 0.2, 1, 1. Across: 0.2 and 0.8 on each link.
  EXPECT_NEAR(random_pairs(fabric, 3000, 1).mean / kLinkRate, (0.6 + 2 * 0.5) / 3, 0.01);
  EXPECT_NEAR(random_pairs(fabric, 100, 1).slowest / kLinkRate, 0.2, 1e-9);
}

// A full tree could carry any pairing, but its static routes do not.
TEST(RandomPairs, LoseOnAFullTree) {
  const auto rates = random_pairs(leaf_spine(8, 8, 8), 100, 1);
  EXPECT_LT(rates.mean, 0.85 * kLinkRate);
  EXPECT_LT(rates.slowest, 0.5 * kLinkRate);
}

}  // namespace
}  // namespace eventloom
