#include "core/fabric/detours.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/fabric/link_graph.hpp"
#include "core/fabric/link_load.hpp"
#include "core/runtime/error.hpp"
#include "tests/unit/fabric/leaf_spine_routes.hpp"

namespace eventloom {
namespace {

std::vector<std::uint8_t> dead_links(const FabricRoutes& fabric, const std::vector<std::string>& names) {
  std::vector<std::uint8_t> dead(fabric.rates.size());
  for (const auto& name : names) dead[link_called(fabric, name)] = 1;
  return dead;
}

std::string refusal(FabricRoutes fabric, const std::vector<std::string>& names) {
  try {
    avoid_links(fabric, dead_links(fabric, names));
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

void expect_joined(const FabricRoutes& fabric, const LinkGraph& graph, std::uint32_t from, std::uint32_t to) {
  auto at = graph.of_node(from);
  for (const auto link : fabric.route(from, to)) {
    EXPECT_EQ(graph.begin_of(link), at) << from << " to " << to;
    at = graph.end_of(link);
  }
  EXPECT_EQ(at, graph.of_node(to)) << from << " to " << to;
}

TEST(Detours, LeadWholeRoutesOverTheOtherSpines) {
  const auto before = leaf_spine(4, 4, 4);
  const auto dead = dead_links(before, {"l0s1_UP", "l0s1_DOWN"});
  auto fabric = before;
  const auto changed = avoid_links(fabric, dead);
  // Transfers from and to leaf 0: 4 nodes to the 3 others that are reached over spine 1, and 12 nodes to one.
  EXPECT_EQ(changed.size(), 4U * 3 + 12);
  const LinkGraph graph(before);
  const std::set pairs(changed.begin(), changed.end());
  for (std::uint32_t from = 0; from < fabric.nodes; ++from) {
    for (std::uint32_t to = 0; to < fabric.nodes; ++to) {
      const auto& route = fabric.route(from, to);
      if (from == to) continue;
      expect_joined(fabric, graph, from, to);
      EXPECT_TRUE(std::ranges::none_of(route, [&](LinkNumber link) { return dead[link] != 0; })) << from << ' ' << to;
      EXPECT_EQ(route.size(), before.route(from, to).size());
      EXPECT_EQ(route != before.route(from, to), pairs.contains({from, to})) << from << ' ' << to;
    }
  }
}

// 7 uplinks carry what 8 did: 8 sources send to 56 nodes over them, 64 transfers each, one more than a node's link
// carries.
TEST(Detours, SpreadTheTrafficEvenly) {
  auto fabric = leaf_spine(8, 8, 8);
  EXPECT_DOUBLE_EQ(ideal_rate(fabric), kLinkRate);
  avoid_links(fabric, dead_links(fabric, {"l2s5_UP"}));
  EXPECT_NEAR(ideal_rate(fabric), kLinkRate * 63 / 64, 1);
  avoid_links(fabric, dead_links(fabric, {"l2s5_DOWN"}));
  EXPECT_NEAR(ideal_rate(fabric), kLinkRate * 63 / 64, 1);
}

TEST(Detours, FollowTheDestination) {
  auto fabric = leaf_spine(4, 4, 4);
  avoid_links(fabric, dead_links(fabric, {"l0s0_UP"}));
  for (std::uint32_t to = 4; to < 16; ++to) {
    for (std::uint32_t from = 1; from < 4; ++from) EXPECT_EQ(fabric.route(from, to)[1], fabric.route(0, to)[1]) << to;
  }
}

TEST(Detours, AreRefusedWhereThereAreNone) {
  EXPECT_NE(refusal(leaf_spine(2, 2, 1), {"l0s0_UP"}).find("no way is left from node 0 to node 2"), std::string::npos);
  EXPECT_NE(refusal(leaf_spine(2, 2, 2), {"n3_DOWN"}).find("to node 3"), std::string::npos);
  auto hub = leaf_spine(1, 3, 1);  // with one cable for both directions
  for (auto& route : hub.routes) {
    for (auto& link : route) link = link / 2 * 2;
  }
  EXPECT_NE(refusal(hub, {"n1_UP"}).find("carries both directions"), std::string::npos);
}

}  // namespace
}  // namespace eventloom
