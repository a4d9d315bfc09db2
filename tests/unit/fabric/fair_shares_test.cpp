#include "core/fabric/fair_shares.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace eventloom {
namespace {

/// Links with these rates; each test chooses its paths.
FabricRoutes links_of(std::vector<double> rates) {
  FabricRoutes fabric;
  fabric.nodes = 1;
  fabric.rates = std::move(rates);
  LinkPath longest(fabric.rates.size());
  fabric.routes.push_back(longest);
  return fabric;
}

std::vector<double> shares_of(FairShares& shares) {
  const auto rates = shares.share();
  return {rates.begin(), rates.end()};
}

TEST(FairShares, FollowTheWeights) {
  const auto fabric = links_of({12});
  FairShares shares(fabric);
  shares.add({0}, 1);
  shares.add({0}, 2);
  shares.add({0}, 3);
  EXPECT_EQ(shares_of(shares), (std::vector<double>{2, 4, 6}));
}

TEST(FairShares, GiveToOthersWhatAFlowCannotUse) {
  const auto fabric = links_of({10, 2, 100});
  FairShares shares(fabric);
  shares.add({0, 1}, 1);
  shares.add({0, 2}, 1);
  shares.add({0}, 1);
  EXPECT_EQ(shares_of(shares), (std::vector<double>{2, 4, 4}));
}

TEST(FairShares, ALinkThatIsNotSharedLimitsEachFlow) {
  auto fabric = links_of({10, 3});
  fabric.free = {0, 1};
  FairShares shares(fabric);
  for (int i = 0; i < 3; ++i) shares.add({0, 1}, 1);
  shares.add({0}, 1);
  EXPECT_EQ(shares_of(shares), (std::vector<double>{2.5, 2.5, 2.5, 2.5}));
  shares.remove(0);
  shares.remove(1);
  EXPECT_EQ(shares_of(shares), (std::vector<double>{7, 3})) << "the last flow has taken the number of the first";
}

TEST(FairShares, AreAsBeforeWithoutTheFlowsThatHaveEnded) {
  const auto fabric = links_of({10, 4, 6});
  FairShares all(fabric);
  all.add({0, 1}, 1);
  all.add({0, 2}, 1);
  const auto before = shares_of(all);
  all.add({0}, 5);
  EXPECT_NE(shares_of(all).front(), before.front());
  all.remove(2);
  EXPECT_EQ(shares_of(all), before);
}

}  // namespace
}  // namespace eventloom
