#include "core/control/live_votes.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace eventloom {
namespace {

LiveVotes votes(std::uint64_t in_step, std::initializer_list<Epoch> jumps) {
  LiveVotes votes;
  votes.near = 10;
  votes.in_step = in_step;
  for (const auto epoch : jumps) add_jump(votes, epoch);
  return votes;
}

TEST(LiveVotes, MoreThanHalfMustHaveJumpedToOnePlace) {
  EXPECT_EQ(majority(votes(1, {})), Epoch(0));
  EXPECT_EQ(majority(votes(0, {500})), Epoch(500));
  EXPECT_EQ(majority(votes(1, {500})), Epoch(0)) << "of two the one that has not jumped is right";
  EXPECT_EQ(majority(votes(1, {500, 505})), Epoch(500));
  EXPECT_EQ(majority(votes(1, {500, 700})), Epoch(0));
  EXPECT_EQ(majority(votes(2, {500, 505})), Epoch(0));
}

TEST(LiveVotes, RanksAddUp) {
  auto all = votes(1, {500});
  add(all, votes(0, {490, 800}));
  add(all, votes(0, {510}));
  EXPECT_EQ(majority(all), Epoch(500));
}

TEST(LiveVotes, MoreJumpsThanThereIsRoomForCountAgainst) {
  LiveVotes scattered;
  for (std::uint64_t place = 1; place <= LiveVotes::kPlaces + 3; ++place) add_jump(scattered, Epoch(100 * place));
  EXPECT_EQ(scattered.others, 3U);
  for (std::size_t i = 1; i < LiveVotes::kPlaces + 2; ++i) add_jump(scattered, 100);
  EXPECT_EQ(majority(scattered), Epoch(0));
  for (int i = 0; i < 2; ++i) add_jump(scattered, 100);
  EXPECT_EQ(majority(scattered), Epoch(100));
}

/// In any order: few votes at many places leave room for many votes at one.
TEST(LiveVotes, AMajorityIsFoundAfterManyOthers) {
  LiveVotes all;
  for (std::uint64_t place = 1; place <= LiveVotes::kPlaces; ++place) add_jump(all, Epoch(1000 * place));
  LiveVotes many;
  for (std::size_t i = 0; i < 2 * LiveVotes::kPlaces; ++i) add_jump(many, 7);
  add(all, many);
  EXPECT_EQ(majority(all), Epoch(7));
}

}  // namespace
}  // namespace eventloom
