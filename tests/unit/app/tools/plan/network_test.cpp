#include "app/tools/plan/network.hpp"

#include <gtest/gtest.h>

#include "tests/unit/app/tools/plan/requests.hpp"

namespace eventloom {

namespace {

/// A source and a builder on each node.
PlanRequest even(std::uint32_t nodes) {
  PlanRequest request;
  request.nodes = nodes;
  request.cores_per_node = 2;
  request.sources = nodes;
  return request;
}

}  // namespace

TEST(PlanNetwork, ANodeKeepsWhatItsOwnBuildersTake) {
  for (const std::uint32_t nodes : {2, 4, 16}) {
    const auto load = load_of_a_byte(Placement(even(nodes)));
    EXPECT_DOUBLE_EQ(load.out, 1 - 1.0 / nodes);
    EXPECT_DOUBLE_EQ(load.in, 1 - 1.0 / nodes);
  }
  EXPECT_EQ(load_of_a_byte(Placement(even(1))).out, 0);
}

/// Compares with a count by hand over all pairs of a source and a builder.
TEST(PlanNetwork, TheMostLoadedNodeCounts) {
  for (const auto& request : many_requests()) {
    const Placement placement(request);
    const auto& roles = placement.roles;
    std::vector<double> out(request.nodes);
    std::vector<double> in(request.nodes);
    for (std::uint32_t s = 0; s < roles.sources; ++s) {
      for (std::uint32_t b = 0; b < roles.builders; ++b) {
        const auto from = placement.node_of(roles.rank_of(SourceId{static_cast<std::uint16_t>(s)}));
        const auto to = placement.node_of(roles.rank_of(BuilderId{b}));
        if (from == to) continue;
        out[from] += 1.0 / roles.builders;
        in[to] += 1.0 / roles.builders;
      }
    }
    const auto load = load_of_a_byte(placement);
    EXPECT_NEAR(load.out, std::ranges::max(out), 1e-6) << text_of(request);
    EXPECT_NEAR(load.in, std::ranges::max(in), 1e-6) << text_of(request);
  }
}

TEST(PlanNetwork, NeededIsRateTimesBytesWithOverlap) {
  auto request = even(4);
  request.hits_per_second = 1e9;
  request.epochs_per_slice = 100;
  request.link_rate = 12.5e9;
  const auto network = network_of(Plan(request));
  EXPECT_NEAR(network.need->out, 1e9 * 8 * 1.02 * 0.75, 1);
  EXPECT_NEAR(*network.margin(), 1 - 6.12 / 12.5, 1e-6);
  EXPECT_TRUE(network.fits());
  const auto text = network_text(network);
  for (const auto* words : {"needed 6.12 GB/s (48.96 Gbit/s) out", "available 12.5 GB/s (100 Gbit/s)", "margin 51 %"}) {
    EXPECT_NE(text.find(words), std::string::npos) << text;
  }
}

TEST(PlanNetwork, MoreThanTheLinksCarryDoesNotFit) {
  auto request = even(8);
  request.hits_per_second = 3e9;
  request.link_rate = 12.5e9;
  const auto network = network_of(Plan(request));
  EXPECT_FALSE(network.fits());
  EXPECT_NE(network_text(network).find("does not fit"), std::string::npos);
  EXPECT_EQ(network_json(network)["fits"], false);
}

TEST(PlanNetwork, WhatTheSimulationReachedIsAvailable) {
  auto request = even(8);
  request.hits_per_second = 1e9;
  request.link_rate = 1e9;
  request.simulated = SimulatedSchedule{.name = "round-robin", .share = 0.5, .ideal_rate = 12.5e9};
  const auto network = network_of(Plan(request));
  EXPECT_DOUBLE_EQ(*network.available, 6.25e9);
  EXPECT_FALSE(network.fits());
  request.simulated->share = 0.9;
  EXPECT_TRUE(network_of(Plan(request)).fits());
}

TEST(PlanNetwork, SaysWhatIsNotKnown) {
  auto request = even(4);
  const auto text = [&] { return network_text(network_of(Plan(request))); };
  EXPECT_NE(text().find("needed unknown without --hits-per-second"), std::string::npos);
  EXPECT_NE(text().find("available unknown: give --link"), std::string::npos);
  EXPECT_TRUE(network_of(Plan(request)).fits());
  request.link_rate = 12.5e9;
  request.epochs_per_slice = 100;
  EXPECT_NE(text().find("enough for 2.04e+09 hits/s of each source"), std::string::npos) << text();
  request.link_rate.reset();
  request.hits_per_second = 1e9;
  EXPECT_NE(text().find("links of at least 6.12 GB/s (48.96 Gbit/s) would do"), std::string::npos) << text();
  request.nodes = 1;
  EXPECT_EQ(text(), "network: not needed, all ranks are on one node");
  EXPECT_TRUE(network_of(Plan(request)).fits());
  EXPECT_EQ(network_json(network_of(Plan(request)))["margin"], nullptr);
}

}  // namespace eventloom
