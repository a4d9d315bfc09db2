#include "core/fabric/link_names.hpp"

#include <gtest/gtest.h>

#include "core/runtime/error.hpp"
#include "tests/unit/fabric/leaf_spine_routes.hpp"

namespace eventloom {
namespace {

std::vector<std::string> named(const FabricRoutes& fabric, const std::string& text) {
  std::vector<std::string> names;
  for (const auto link : links_named(fabric, text, "--dead-link")) names.push_back(fabric.names[link]);
  return names;
}

std::string refusal(const FabricRoutes& fabric, const std::string& text) {
  try {
    links_named(fabric, text, "--dead-link");
    return "";
  } catch (const UserError& e) {
    return e.what();
  }
}

using Names = std::vector<std::string>;

TEST(LinkNames, AreThoseOfNodesLinksCablesAndSpines) {
  const auto fabric = leaf_spine(3, 4, 4);
  EXPECT_EQ(named(fabric, "7"), (Names{"n7_UP", "n7_DOWN"}));
  EXPECT_EQ(named(fabric, "l1s2_UP"), (Names{"l1s2_UP"}));
  EXPECT_EQ(named(fabric, "l1s2"), (Names{"l1s2_UP", "l1s2_DOWN"}));
  for (const std::string leaf : {"0", "1", "2"}) {
    for (const std::string spine : {"0", "3"}) {
      const auto cable = "l" + leaf + "s" + spine;
      const auto numbers = leaf + ":" + spine;
      EXPECT_EQ(named(fabric, "up:" + numbers), (Names{cable + "_UP"}));
      EXPECT_EQ(named(fabric, "down:" + numbers), (Names{cable + "_DOWN"}));
      EXPECT_EQ(named(fabric, "cable:" + numbers), (Names{cable + "_UP", cable + "_DOWN"}));
    }
  }
}

TEST(LinkNames, AreRefusedWithTheClosest) {
  const auto fabric = leaf_spine(3, 4, 4);
  EXPECT_EQ(refusal(fabric, "l1s9_UP"),
            "--dead-link l1s9_UP: no route between the nodes crosses such a link; the closest names are l1s0_UP, "
            "l1s1_UP, l1s2_UP");
  EXPECT_NE(refusal(fabric, "backbone").find("names are as n0_UP"), std::string::npos);
  EXPECT_EQ(refusal(fabric, "12"), "--dead-link: no node 12 among 12, counted from 0");
  EXPECT_NE(refusal(fabric, "up:3:0").find("no leaf switch 3 among 3"), std::string::npos);
  EXPECT_NE(refusal(fabric, "up:0:4").find("has 4 links up"), std::string::npos);
  EXPECT_NE(refusal(fabric, "up:0").find("expected up:LEAF:SPINE"), std::string::npos);
  EXPECT_NE(refusal(leaf_spine(1, 4, 1), "cable:0:0").find("has 0 links up"), std::string::npos);
}

}  // namespace
}  // namespace eventloom
