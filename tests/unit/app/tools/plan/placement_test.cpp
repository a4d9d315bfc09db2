#include "app/tools/plan/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "tests/unit/app/tools/plan/requests.hpp"

namespace eventloom {

namespace {

struct NodeRoles {
  std::vector<std::uint32_t> sources, builders;  ///< number of each, by node
};

NodeRoles by_node(const Placement& placement) {
  NodeRoles nodes{std::vector<std::uint32_t>(placement.nodes), std::vector<std::uint32_t>(placement.nodes)};
  const auto& roles = placement.roles;
  for (std::uint16_t s = 0; s < roles.sources; ++s) ++nodes.sources[placement.node_of(roles.rank_of(SourceId{s}))];
  for (std::uint32_t b = 0; b < roles.builders; ++b) ++nodes.builders[placement.node_of(roles.rank_of(BuilderId{b}))];
  return nodes;
}

std::uint32_t spread(const std::vector<std::uint32_t>& counts) {
  return std::ranges::max(counts) - std::ranges::min(counts);
}

PlanRequest request_of(std::uint32_t nodes, std::uint32_t cores, std::uint32_t sources) {
  PlanRequest request;
  request.nodes = nodes;
  request.cores_per_node = cores;
  request.sources = sources;
  return request;
}

}  // namespace

TEST(Placement, EveryNodeHasAsManyBuildersAndItsShareOfSources) {
  for (const auto& request : many_requests()) {
    const Placement placement(request);
    const auto nodes = by_node(placement);
    EXPECT_EQ(spread(nodes.builders), 0U) << text_of(request);
    EXPECT_GE(nodes.builders.front(), 1U) << text_of(request);
    if (placement.roles.sources >= request.nodes) {
      EXPECT_GE(std::ranges::min(nodes.sources), 1U) << text_of(request);
    }
    const auto ranks = static_cast<std::uint32_t>(placement.roles.ranks);
    EXPECT_LE(spread(nodes.sources), placement.roles.sources / ranks + 1) << text_of(request);
  }
}

TEST(Placement, NoTwoRanksShareACoreAndNoCoreIsBeyondTheNode) {
  for (const auto& request : many_requests()) {
    const Placement placement(request);
    std::set<std::pair<std::uint32_t, std::uint32_t>> places;
    for (int rank = 0; rank < placement.roles.ranks; ++rank) {
      EXPECT_LT(placement.core_of(rank), request.usable_cores()) << text_of(request);
      EXPECT_TRUE(places.emplace(placement.node_of(rank), placement.core_of(rank)).second) << text_of(request);
    }
  }
}

TEST(Placement, RolesOfEachRankAreThoseOfTheRun) {
  for (const auto& request : many_requests()) {
    const auto roles = Placement(request).roles;
    const auto ranks = roles_by_rank(roles);
    std::uint32_t n = 0;
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const int rank = static_cast<int>(r);
      for (const auto s : ranks[r].sources) EXPECT_EQ(roles.rank_of(SourceId{static_cast<std::uint16_t>(s)}), rank);
      for (const auto b : ranks[r].builders) EXPECT_EQ(roles.rank_of(BuilderId{b}), rank);
      for (const auto f : ranks[r].filters) EXPECT_EQ(roles.rank_of(FilterId{f}), rank);
      const auto here = ranks[r].sources.size() + ranks[r].builders.size() + ranks[r].filters.size();
      EXPECT_GE(here, 1U) << text_of(request) << ": nothing to do on rank " << rank;
      EXPECT_LE(ranks[r].builders.size(), 1U) << text_of(request);
      n += static_cast<std::uint32_t>(here);
    }
    EXPECT_EQ(n, roles.sources + roles.builders + roles.filters);
  }
}

TEST(Placement, MoreCoresNeverMeanFewerRanksOrBuilders) {
  for (auto request : many_requests()) {
    std::uint32_t builders = 0;
    int ranks = 0;
    std::uint32_t missing = std::numeric_limits<std::uint32_t>::max();
    for (request.cores_per_node = request.filters == 0 ? 1 : 2; request.cores_per_node < 80; ++request.cores_per_node) {
      const Placement placement(request);
      EXPECT_GE(placement.roles.builders, builders) << text_of(request);
      EXPECT_GE(placement.roles.ranks, ranks) << text_of(request);
      EXPECT_LE(placement.builders_missing, missing) << text_of(request);
      builders = placement.roles.builders;
      ranks = placement.roles.ranks;
      missing = placement.builders_missing;
    }
  }
}

TEST(Placement, SourcesHaveRanksOfTheirOwnWhereThereAreCoresForIt) {
  const Placement large(request_of(4, 64, 32));
  EXPECT_EQ(large.roles.ranks, 252);
  EXPECT_EQ(large.roles.builders, 220U);
  EXPECT_EQ(large.builders_beside_sources(), 0U);
  EXPECT_EQ(large.schedule, "round-robin");
}

TEST(Placement, BuildersShareRanksWithSourcesWhereThereAreNot) {
  const Placement some(request_of(2, 4, 5));
  EXPECT_EQ(some.roles.ranks, 8);
  EXPECT_EQ(some.roles.builders, 6U);
  EXPECT_EQ(some.builders_beside_sources(), 3U);
  EXPECT_EQ(some.schedule, "balanced");
  const Placement all(request_of(2, 4, 100));
  EXPECT_EQ(all.roles.ranks, 8);
  EXPECT_EQ(all.roles.builders, 8U);
  EXPECT_EQ(all.schedule, "round-robin");
  const Placement one(request_of(1, 1, 3));
  EXPECT_EQ(one.roles.ranks, 1);
  EXPECT_EQ(one.roles.builders, 1U);
}

TEST(Placement, TheRateDecidesTheNumberOfBuilders) {
  auto request = request_of(4, 64, 4);
  request.hits_per_second = 1e6;
  EXPECT_EQ(Placement(request).roles.builders, 4U);  // one would suffice, but each node has one
  request.hits_per_second = 1e8;
  const Placement fast(request);
  EXPECT_GE(fast.roles.builders * hits_per_core(4), 4e8);
  EXPECT_LT((fast.roles.builders - request.nodes) * hits_per_core(4), 4e8);
  EXPECT_EQ(fast.builders_missing, 0U);
  request.hits_per_second = 1e10;
  const Placement beyond(request);
  EXPECT_EQ(beyond.roles.builders, 252U);
  EXPECT_GE((beyond.roles.builders + beyond.builders_missing) * hits_per_core(4), 4e10);
}

TEST(Placement, OneSourceIsNotGivenMoreBuildersThanItCanFeed) {
  const Placement placement(request_of(1, 1000, 1));
  EXPECT_GE(placement.roles.builders * hits_per_core(1), hits_per_source(8));
  EXPECT_LT((placement.roles.builders - 1) * hits_per_core(1), hits_per_source(8));
}

TEST(Placement, RatesAreTheMeasuredOnes) {
  EXPECT_DOUBLE_EQ(hits_per_core(4), 37.5e6);
  EXPECT_NEAR(hits_per_core(16) / hits_per_core(4), 108.0 / 139, 1e-9);
  EXPECT_NEAR(hits_per_core(100) / hits_per_core(4), 58.0 / 139, 1e-9);
  for (std::uint32_t n = 1; n < 1000; ++n) EXPECT_GT(hits_per_core(n), hits_per_core(n + 1));
}

}  // namespace eventloom
