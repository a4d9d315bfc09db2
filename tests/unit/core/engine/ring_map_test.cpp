#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "core/engine/role_layout.hpp"

namespace eventloom {
namespace {

struct Extent {
  std::uint64_t begin;
  std::uint64_t end;
};

TEST(Roles, AreAssignedToRanksInTurn) {
  const Roles roles{.sources = 5, .builders = 3, .filters = 2, .ranks = 4};
  EXPECT_EQ(roles.rank_of(SourceId{4}), 0);
  EXPECT_EQ(roles.rank_of(BuilderId{0}), 1);
  EXPECT_EQ(roles.rank_of(BuilderId{2}), 3);
  EXPECT_EQ(roles.rank_of(FilterId{1}), 1);
  EXPECT_EQ(roles.source_ranks(), std::vector<int>({0, 1, 2, 3}));
}

TEST(Roles, KnowTheRanksOfTheExchange) {
  const Roles roles{.sources = 2, .builders = 3, .filters = 2, .ranks = 8};
  EXPECT_EQ(roles.source_ranks(), std::vector<int>({0, 1}));
  EXPECT_EQ(roles.builder_ranks(), std::vector<int>({2, 3, 4}));
  EXPECT_EQ(roles.exchange_ranks(), std::vector<int>({0, 1, 2, 3, 4}));
  EXPECT_EQ(roles.assigner_rank(), 0);
  const Roles folded{.sources = 2, .builders = 3, .filters = 2, .ranks = 3};
  EXPECT_EQ(folded.builder_ranks(), std::vector<int>({0, 1, 2}));
}

/// The extents that a ring map places in the windows, by rank.
class Extents {
 public:
  explicit Extents(int ranks) : claimed_(static_cast<std::size_t>(ranks)) {}

  void add_ring(const RingLink& link, const RingGeometry& geometry) {
    claim(link.receiver, link.ring_offset, geometry.descriptor_bytes());
    claim(link.receiver, link.cells_offset, geometry.cells_bytes());
    EXPECT_EQ(link.ring_offset + link.placed(geometry).cell_offset(0), link.cells_offset);
    EXPECT_EQ(link.placed(geometry).span_bytes(), link.cells_offset + geometry.cells_bytes() - link.ring_offset);
  }
  void add_credits(const RingLink& link) { claim(link.sender, link.credit_offset, kCreditBytes); }
  /// No extents overlap, all are aligned and inside the window.
  void expect_apart(const std::vector<std::uint64_t>& window_bytes) {
    for (std::size_t r = 0; r < claimed_.size(); ++r) {
      std::ranges::sort(claimed_[r], {}, &Extent::begin);
      std::uint64_t end = 0;
      for (const auto& e : claimed_[r]) {
        EXPECT_GE(e.begin, end);
        EXPECT_EQ(e.begin % 64, 0U);
        end = e.end;
      }
      EXPECT_LE(end, window_bytes[r]);
    }
  }

 private:
  void claim(int rank, std::uint64_t offset, std::uint64_t bytes) {
    claimed_[static_cast<std::size_t>(rank)].push_back({offset, offset + bytes});
  }

  std::vector<std::vector<Extent>> claimed_;
};

std::vector<int> senders_of(const std::vector<RingLink>& links) {
  std::vector<int> ranks;
  for (const auto& link : links) ranks.push_back(link.sender);
  return ranks;
}

std::vector<int> receivers_of(const std::vector<RingLink>& links) {
  std::vector<int> ranks;
  for (const auto& link : links) ranks.push_back(link.receiver);
  return ranks;
}

TEST(RingMap, KeepsTheRingsOfARank) {
  const Roles roles{.sources = 4, .builders = 3, .filters = 0, .ranks = 4};
  const RingMap all(roles, RingGeometry{}, std::nullopt);
  for (int rank = 0; rank < roles.ranks; ++rank) {
    const RingMap kept(roles, RingGeometry{}, std::nullopt, rank);
    EXPECT_EQ(kept.window_bytes, all.window_bytes);
    EXPECT_EQ(kept.control_bytes, all.control_bytes);
    for (std::uint32_t b = 0; b < roles.builders; ++b) {
      const bool receives = roles.rank_of(BuilderId{b}) == rank;
      EXPECT_EQ(senders_of(kept.to_builder[b]), receives ? roles.source_ranks() : std::vector{rank});
      const auto mine = std::ranges::find(kept.to_builder[b], rank, &RingLink::sender);
      const auto same = std::ranges::find(all.to_builder[b], rank, &RingLink::sender);
      ASSERT_NE(mine, kept.to_builder[b].end());
      EXPECT_EQ(mine->ring_offset, same->ring_offset);
      EXPECT_EQ(mine->cells_offset, same->cells_offset);
      EXPECT_EQ(mine->credit_offset, same->credit_offset);
    }
  }
}

TEST(RingMap, DescriptorsOfAWindowLieTogether) {
  const Roles roles{.sources = 6, .builders = 6, .filters = 0, .ranks = 6};
  const RingGeometry geometry;
  const RingMap map(roles, geometry, std::nullopt);
  const auto most = 6 * geometry.descriptor_bytes();
  for (const auto& links : map.to_builder) {
    for (const auto& link : links) EXPECT_LE(link.ring_offset + geometry.descriptor_bytes(), most);
  }
}

TEST(RingMap, PlacesEveryRingAndCreditApart) {
  const RingGeometry geometry{.depth = 5, .cell_bytes = 4096};
  const RingGeometry notes{.depth = 3, .cell_bytes = 192};
  for (const int ranks : {1, 2, 3, 7, 12}) {
    for (const bool with_notes : {false, true}) {
      const Roles roles{.sources = 4, .builders = 3, .filters = 2, .ranks = ranks};
      const RingMap map(roles, geometry, with_notes ? std::optional(notes) : std::nullopt);
      Extents data(ranks);
      Extents control(ranks);
      for (const auto& links : map.to_builder) {
        EXPECT_EQ(senders_of(links), roles.source_ranks());
        for (const auto& link : links) data.add_ring(link, geometry);
        for (const auto& link : links) control.add_credits(link);
      }
      for (const auto& links : map.to_filter) {
        EXPECT_EQ(links.size(), 3U);
        for (const auto& link : links) data.add_ring(link, geometry);
        for (const auto& link : links) control.add_credits(link);
      }
      for (const auto* links : {&map.to_assigner, &map.from_assigner}) {
        for (const auto& link : *links) control.add_ring(link, notes);
        for (const auto& link : *links) control.add_credits(link);
      }
      data.expect_apart(map.window_bytes);
      control.expect_apart(map.control_bytes);
      EXPECT_EQ(senders_of(map.to_assigner), with_notes ? roles.builder_ranks() : std::vector<int>{});
      EXPECT_EQ(receivers_of(map.from_assigner), with_notes ? roles.exchange_ranks() : std::vector<int>{});
      for (const auto& link : map.to_assigner) EXPECT_EQ(link.receiver, roles.assigner_rank());
      for (const auto& link : map.from_assigner) EXPECT_EQ(link.sender, roles.assigner_rank());
    }
  }
}

}  // namespace
}  // namespace eventloom
