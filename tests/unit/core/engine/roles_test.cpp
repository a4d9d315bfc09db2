#include <gtest/gtest.h>

#include <set>

#include "core/engine/role_layout.hpp"

namespace eventloom {
namespace {

Roles roles(std::uint32_t sources, int ranks, std::vector<std::uint32_t> homes = {}) {
  return {.sources = sources, .builders = 2, .filters = 1, .ranks = ranks, .homes = std::move(homes)};
}

TEST(Roles, RunOnOneRankAfterTheOther) {
  const auto all = roles(3, 4);
  EXPECT_EQ(all.rank_of(SourceId{0}), 0);
  EXPECT_EQ(all.rank_of(SourceId{2}), 2);
  EXPECT_EQ(all.rank_of(BuilderId{0}), 3);
  EXPECT_EQ(all.rank_of(BuilderId{1}), 0);
  EXPECT_EQ(all.rank_of(FilterId{0}), 1);
  EXPECT_EQ(all.source_ranks(), (std::vector{0, 1, 2}));
  EXPECT_EQ(all.builder_ranks(), (std::vector{0, 3}));
  EXPECT_EQ(all.exchange_ranks(), (std::vector{0, 1, 2, 3}));
}

TEST(Roles, SayWhetherAsManyRanksOnlyBuildAsHaveSources) {
  EXPECT_TRUE(roles(1, 2).others_can_build());
  EXPECT_TRUE(roles(2, 4).others_can_build());
  EXPECT_FALSE(roles(3, 4).others_can_build());
  EXPECT_FALSE(roles(1, 1).others_can_build());
}

TEST(RolesWithHomes, SourcesOfOnePortRunOnTheRankOfTheFirst) {
  const auto all = roles(5, 8, {0, 1, 1, 1, 4});
  EXPECT_EQ(all.rank_of(SourceId{0}), 0);
  for (const std::uint16_t source : {1, 2, 3}) EXPECT_EQ(all.rank_of(SourceId{source}), 1);
  EXPECT_EQ(all.rank_of(SourceId{4}), 4);
  EXPECT_EQ(all.source_ranks(), (std::vector{0, 1, 4}));
}

/// All sources of a port are on one rank, even if there are more sources than ranks.
TEST(RolesWithHomes, WrapAroundTheRanks) {
  const auto all = roles(6, 2, {0, 1, 2, 2, 2, 5});
  for (const std::uint16_t source : {2, 3, 4}) EXPECT_EQ(all.rank_of(SourceId{source}), 0);
  EXPECT_EQ(all.rank_of(SourceId{5}), 1);
}

TEST(RolesWithHomes, BuildersAndFiltersStayWhereTheyAre) {
  const auto with = roles(4, 5, {0, 0, 0, 0});
  const auto without = roles(4, 5);
  for (const std::uint32_t builder : {0U, 1U}) {
    EXPECT_EQ(with.rank_of(BuilderId{builder}), without.rank_of(BuilderId{builder}));
  }
  EXPECT_EQ(with.rank_of(FilterId{0}), without.rank_of(FilterId{0}));
  EXPECT_EQ(with.exchange_ranks(), (std::vector{0, 4}));
}

/// Ranks without a source have no rings to builders.
TEST(RolesWithHomes, RingsAreOfRanksWithSources) {
  const auto all = roles(4, 6, {0, 1, 1, 1});
  const RingMap map(all, RingGeometry{}, std::nullopt);
  ASSERT_EQ(map.to_builder.size(), 2U);
  for (const auto& links : map.to_builder) {
    std::set<int> senders;
    for (const auto& link : links) EXPECT_TRUE(senders.insert(link.sender).second);
    EXPECT_EQ(senders, (std::set{0, 1}));
  }
}

}  // namespace
}  // namespace eventloom
