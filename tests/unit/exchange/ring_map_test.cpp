#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "app/roles.hpp"

namespace eventloom {
namespace {

struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
};

TEST(Roles, RunRoundTheRanks) {
  const Roles roles{.sources = 5, .builders = 3, .filters = 2, .ranks = 4};
  EXPECT_EQ(roles.rank_of(SourceId{4}), 0);
  EXPECT_EQ(roles.rank_of(BuilderId{0}), 1);
  EXPECT_EQ(roles.rank_of(BuilderId{2}), 3);
  EXPECT_EQ(roles.rank_of(FilterId{1}), 1);
  EXPECT_EQ(roles.source_ranks(), std::vector<int>({0, 1, 2, 3}));
}

// Nothing in any window may be claimed twice, and all of it must lie inside the window.
TEST(RingMap, PlacesEveryRingAndCreditApart) {
  const RingGeometry geometry{.depth = 5, .cell_bytes = 4096};
  for (const int ranks : {1, 2, 3, 7}) {
    const Roles roles{.sources = 4, .builders = 3, .filters = 2, .ranks = ranks};
    const RingMap map(roles, geometry);
    std::vector<std::vector<Extent>> claimed(static_cast<std::size_t>(ranks));
    const auto claim = [&](const RingLink& link) {
      claimed[static_cast<std::size_t>(link.receiver)].push_back(
          {link.ring_offset, link.ring_offset + geometry.ring_bytes()});
      claimed[static_cast<std::size_t>(link.sender)].push_back(
          {link.credit_offset, link.credit_offset + sizeof(CreditBlock)});
    };
    for (const auto& links : map.to_builder) {
      EXPECT_EQ(links.size(), roles.source_ranks().size());
      for (const auto& link : links) claim(link);
    }
    for (const auto& links : map.to_filter) {
      EXPECT_EQ(links.size(), 3U);
      for (const auto& link : links) claim(link);
    }
    for (std::size_t r = 0; r < claimed.size(); ++r) {
      auto& extents = claimed[r];
      std::ranges::sort(extents, {}, &Extent::begin);
      std::uint64_t end = 0;
      for (const auto& e : extents) {
        EXPECT_GE(e.begin, end);
        EXPECT_EQ(e.begin % 64, 0U);
        end = e.end;
      }
      EXPECT_LE(end, map.window_bytes[r]);
    }
  }
}

}  // namespace
}  // namespace eventloom
