#include "core/control/live_votes.hpp"

#include <gtest/gtest.h>

namespace eventloom {
namespace {

LiveVotes votes(std::uint64_t in_step, std::initializer_list<std::uint64_t> jumps) {
  LiveVotes votes;
  votes.near = 10;
  votes.in_step = in_step;
  for (const auto epoch : jumps) votes.jumped_to(epoch);
  return votes;
}

TEST(LiveVotes, MoreThanHalfMustHaveJumpedToOnePlace) {
  EXPECT_EQ(votes(1, {}).majority(), 0U);
  EXPECT_EQ(votes(0, {500}).majority(), 500U);
  EXPECT_EQ(votes(1, {500}).majority(), 0U) << "of two the one that has not jumped is right";
  EXPECT_EQ(votes(1, {500, 505}).majority(), 500U);
  EXPECT_EQ(votes(1, {500, 700}).majority(), 0U);
  EXPECT_EQ(votes(2, {500, 505}).majority(), 0U);
}

TEST(LiveVotes, RanksAddUp) {
  auto all = votes(1, {500});
  all.add(votes(0, {490, 800}));
  all.add(votes(0, {510}));
  EXPECT_EQ(all.majority(), 500U);
}

TEST(LiveVotes, MoreJumpsThanThereIsRoomForCountAgainst) {
  LiveVotes scattered;
  for (std::uint64_t place = 1; place <= LiveVotes::kPlaces + 3; ++place) scattered.jumped_to(100 * place);
  EXPECT_EQ(scattered.others, 3U);
  for (std::size_t i = 1; i < LiveVotes::kPlaces + 2; ++i) scattered.jumped_to(100);
  EXPECT_EQ(scattered.majority(), 0U);
  for (int i = 0; i < 2; ++i) scattered.jumped_to(100);
  EXPECT_EQ(scattered.majority(), 100U);
}

/// Whoever comes first: few at many places leave room for many at one.
TEST(LiveVotes, AMajorityIsFoundBehindManyOthers) {
  LiveVotes all;
  for (std::uint64_t place = 1; place <= LiveVotes::kPlaces; ++place) all.jumped_to(1000 * place);
  LiveVotes many;
  for (std::size_t i = 0; i < 2 * LiveVotes::kPlaces; ++i) many.jumped_to(7);
  all.add(many);
  EXPECT_EQ(all.majority(), 7U);
}

}  // namespace
}  // namespace eventloom
