#include "io/udp/board_account.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace eventloom::test {
namespace {

EpochBufferHeader counting(std::uint64_t hits_before, std::uint32_t n_hits) {
  EpochBufferHeader header;
  header.hits_before = hits_before;
  header.n_hits = n_hits;
  return header;
}

/// An account that has delivered five hits.
struct Account : BoardAccount {
  Account() { receive(0, 5); }
  void receive(std::uint64_t hits_before, std::uint32_t n_hits) {
    const auto header = counting(hits_before, n_hits);
    see(header);
    settle(hits_before, {1, 10}, out);
    deliver(header);
  }
  std::vector<Damage> damage() { return std::exchange(out.damage, {}); }
  FeedBatch out;
};

TEST(BoardAccount, NothingIsMissingOfWhatFollows) {
  Account account;
  EXPECT_EQ(account.hits(), 5U);
  account.receive(5, 7);
  EXPECT_EQ(account.hits(), 12U);
  EXPECT_TRUE(account.damage().empty());
}

TEST(BoardAccount, TheCountShowsWhatIsLost) {
  Account account;
  account.lose(2);
  EXPECT_EQ(account.settle(25, {1, 10}, account.out), 20U);
  const auto damage = account.damage();
  ASSERT_EQ(damage.size(), 1U);
  EXPECT_EQ(damage[0].first_epoch, Epoch(1));
  EXPECT_EQ(damage[0].n_epochs, Epoch(9));
  EXPECT_EQ(damage[0].n_hits, 20U);
  EXPECT_EQ(damage[0].cause, DropCause::lost);
  EXPECT_EQ(account.settle(25, {10, 10}, account.out), 0U);
  EXPECT_TRUE(account.damage().empty());
}

TEST(BoardAccount, WhatIsDroppedIsNotLost) {
  Account account;
  account.drop(DropCause::corrupt, 6);
  account.drop(DropCause::late, 3);
  EXPECT_EQ(account.hits_with_gaps(), 14U);
  EXPECT_EQ(account.settle(14, {1, 10}, account.out), 0U);
  const auto damage = account.damage();
  ASSERT_EQ(damage.size(), 2U);
  EXPECT_EQ(damage[0].n_hits + damage[1].n_hits, 9U);
}

TEST(BoardAccount, ADamagedBufferMayHaveHadWhatIsMissing) {
  Account account;
  account.drop(DropCause::corrupt, 0);
  EXPECT_EQ(account.settle(9, {1, 10}, account.out), 0U);
  const auto damage = account.damage();
  ASSERT_EQ(damage.size(), 2U);
  EXPECT_EQ(damage[1].n_hits, 4U);
  EXPECT_EQ(damage[1].cause, DropCause::corrupt);
}

TEST(BoardAccount, CountsThatDoNotFollowDoNotFit) {
  const Account account;
  EXPECT_TRUE(account.fits(5));
  EXPECT_FALSE(account.fits(4));
  EXPECT_FALSE(account.fits(6 + BoardAccount::kMostLost));
  EXPECT_TRUE(account.fits(counting(5, 1)));
  EXPECT_FALSE(account.fits(counting(~0ULL, 1)));
  EXPECT_TRUE(BoardAccount().fits(counting(1'000, 1))) << "nothing is known yet";
}

TEST(BoardAccount, ABreakShowsWhereTimePasses) {
  BoardAccount joined;
  FeedBatch out;
  joined.join(40);
  EXPECT_EQ(joined.hits(), 40U);
  joined.settle(40, {7, 7}, out);
  EXPECT_TRUE(out.damage.empty());
  joined.settle(40, {7, 9}, out);
  ASSERT_EQ(out.damage.size(), 1U);
  EXPECT_EQ(out.damage[0].n_hits, 0U);
  joined.settle(40, {9, 11}, out);
  EXPECT_EQ(out.damage.size(), 1U);
}

TEST(BoardAccount, ASessionEndsWithAllThatItIsKnownToHaveSent) {
  Account account;
  account.see(counting(20, 10));
  EXPECT_EQ(account.settle_all(1, account.out), 25U);
  account.begin_session(true);
  EXPECT_EQ(account.hits(), 0U);
  EXPECT_EQ(account.settle_all(1, account.out), 0U);
  account.begin_session(false);
  EXPECT_FALSE(account.has_begun());
}

}  // namespace
}  // namespace eventloom::test
