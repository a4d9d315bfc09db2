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
  auto scattered = votes(0, {100, 200, 300, 400, 500, 600, 700});
  EXPECT_EQ(scattered.others, 3U);
  for (int i = 0; i < 4; ++i) scattered.jumped_to(100);
  EXPECT_EQ(scattered.majority(), 0U);
  for (int i = 0; i < 3; ++i) scattered.jumped_to(100);
  EXPECT_EQ(scattered.majority(), 100U);
}

}  // namespace
}  // namespace eventloom
