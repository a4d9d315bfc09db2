#include "io/live/step_filter.hpp"

#include <gtest/gtest.h>

#include "fake_feed.hpp"

namespace eventloom::test {
namespace {

constexpr Epoch kReach = 100;
constexpr Epoch kFarAway(1'000'000'000'000);

/// Batches of buffers of one epoch and three hits.
struct Filtered {
  StepFilter filter{kReach};
  FeedBatch batch;

  /// Returns true if the earlier data are to be dropped.
  bool take(const std::vector<Epoch>& epochs) {
    batch.clear();
    for (const auto epoch : epochs) {
      const auto bytes = make_buffer(epoch, 3);
      batch.buffers.insert(batch.buffers.end(), bytes.begin(), bytes.end());
      batch.complete = epoch + 1;
    }
    return filter.take_out(batch, 0);
  }
  [[nodiscard]] std::vector<Epoch> kept() const {
    std::vector<Epoch> epochs;
    for (std::span<const std::byte> rest(batch.buffers); !rest.empty();) {
      const auto header = read_epoch_buffer_header(rest);
      epochs.push_back(header->first_epoch);
      rest = rest.subspan(header->stored_bytes());
    }
    return epochs;
  }
};

using Epochs = std::vector<Epoch>;

TEST(StepFilter, OneThatContinuesMayHaveAnyRate) {
  Filtered stream;
  stream.take({0});
  stream.filter.begin_at(0, kReach);
  Epochs steps;
  for (Epoch epoch = 0; epoch < 100 * kReach; epoch += kReach) steps.push_back(epoch);
  EXPECT_FALSE(stream.take(steps));
  EXPECT_EQ(stream.kept(), steps);
  EXPECT_TRUE(stream.batch.damage.empty());
  EXPECT_EQ(stream.batch.complete, steps.back() + 1);
}

TEST(StepFilter, TheEndOfAStreamIsNotBelievedFurtherThanTheStream) {
  Filtered stream;
  stream.filter.begin_at(0, kReach);
  stream.take({5});
  stream.batch.clear();
  stream.batch.ended = true;
  stream.batch.complete = stream.batch.seen_end = kFarAway;
  stream.filter.take_out(stream.batch, 0);
  EXPECT_EQ(stream.batch.complete, Epoch(6));
  EXPECT_EQ(stream.batch.seen_end, Epoch(6));
  EXPECT_FALSE(stream.filter.aside()) << "it is not anywhere";
}

TEST(StepFilter, AJumpIsLeftOutAndCountedWhereTheStreamWas) {
  Filtered stream;
  stream.filter.begin_at(0, kReach);
  stream.take({5, 6, kFarAway, kFarAway + 1});
  EXPECT_EQ(stream.kept(), (Epochs{5, 6}));
  ASSERT_EQ(stream.batch.damage.size(), 1U);
  EXPECT_EQ(stream.batch.damage[0].first_epoch, Epoch(7));
  EXPECT_EQ(stream.batch.damage[0].n_epochs, Epoch(1));
  EXPECT_EQ(stream.batch.damage[0].n_hits, 6U);
  EXPECT_EQ(stream.batch.damage[0].cause, DropCause::out_of_step);
  EXPECT_LE(stream.batch.complete, Epoch(7));
  EXPECT_EQ(stream.filter.aside(), kFarAway + 2);
  stream.take({8});
  EXPECT_EQ(stream.kept(), Epochs{8});
  EXPECT_EQ(stream.filter.aside(), std::nullopt);
  EXPECT_EQ(stream.batch.complete, Epoch(9));
}

TEST(StepFilter, WhatItMissedWhileItWasAwayIsMissing) {
  Filtered stream;
  stream.filter.begin_at(0, kReach);
  stream.take({5, kFarAway});
  stream.take({20});
  ASSERT_EQ(stream.batch.damage.size(), 1U);
  EXPECT_EQ(stream.batch.damage[0].first_epoch, Epoch(6));
  EXPECT_EQ(stream.batch.damage[0].n_epochs, Epoch(14));
  EXPECT_EQ(stream.batch.damage[0].n_hits, 0U);
}

TEST(StepFilter, AStepBackIsAJump) {
  Filtered stream;
  stream.filter.begin_at(0, kReach);
  stream.take({50, 3});
  EXPECT_EQ(stream.kept(), Epochs{50});
  EXPECT_EQ(stream.filter.aside(), Epoch(3));
  EXPECT_EQ(stream.batch.damage.size(), 1U);
}

TEST(StepFilter, WhatIsExpectedIsNoJump) {
  Filtered stream;
  stream.filter.begin_at(0, kReach);
  stream.take({5, kFarAway});
  stream.filter.expect(kFarAway);
  stream.take({kFarAway + 1});
  EXPECT_EQ(stream.kept(), Epochs{kFarAway + 1});
  EXPECT_EQ(stream.filter.aside(), std::nullopt);
}

TEST(StepFilter, TheFirstOfAllIsNothingWhenTheSecondIsFar) {
  for (const auto& [wrong, right] : {std::pair{kFarAway, Epoch{100}}, std::pair{Epoch{0}, kFarAway}}) {
    Filtered stream;
    EXPECT_FALSE(stream.take({wrong}));
    EXPECT_FALSE(stream.filter.is_placed());
    EXPECT_TRUE(stream.take({right, right + 1}));
    EXPECT_EQ(stream.kept(), (Epochs{right, right + 1}));
    EXPECT_TRUE(stream.filter.is_placed());
    stream.filter.begin_at(right, kReach);
    stream.take({right, right + 1, wrong});
    EXPECT_EQ(stream.kept(), (Epochs{right, right + 1})) << "two agree";
  }
}

TEST(StepFilter, ARunThatBeginsElsewhereLeavesOutAll) {
  Filtered stream;
  stream.take({kFarAway, kFarAway + 1});
  stream.filter.begin_at(7, kReach);
  stream.take({kFarAway, kFarAway + 1});
  EXPECT_TRUE(stream.kept().empty());
  EXPECT_EQ(stream.filter.aside(), kFarAway + 2);
  EXPECT_EQ(stream.batch.complete, Epoch(0));
}

/// A run may begin long before one of its streams: that does not allow a jump.
TEST(StepFilter, AJumpBeforeTheRunHasBegunIsOne) {
  Filtered stream;
  stream.take({0, 1, 2 * kReach, 2 * kReach + 1});
  EXPECT_EQ(stream.kept().size(), 4U) << "it is not yet known where the others are";
  stream.filter.begin_at(0, 10 * kReach);
  stream.take({0, 1, 2 * kReach, 2 * kReach + 1});
  EXPECT_EQ(stream.kept(), (Epochs{0, 1}));
  Filtered late;
  late.filter.begin_at(0, 10 * kReach);
  late.take({2 * kReach, 2 * kReach + 1});
  EXPECT_EQ(late.kept(), (Epochs{2 * kReach, 2 * kReach + 1}));
}

/// Data missing between a place and a far one lie where the stream was.
TEST(StepFilter, NothingThatIsMissingReachesFar) {
  Filtered stream;
  stream.filter.begin_at(0, kReach);
  stream.take({5});
  stream.batch.clear();
  stream.batch.damage.push_back({.first_epoch = 6, .n_epochs = kFarAway, .n_hits = 4, .cause = DropCause::lost});
  stream.batch.damage.push_back({.first_epoch = kFarAway, .n_epochs = 9, .n_hits = 5, .cause = DropCause::lost});
  stream.filter.take_out(stream.batch, 0);
  ASSERT_EQ(stream.batch.damage.size(), 2U);
  for (const auto& damage : stream.batch.damage) {
    EXPECT_EQ(damage.first_epoch, Epoch(6));
    EXPECT_EQ(damage.n_epochs, Epoch(1));
  }
  EXPECT_EQ(stream.batch.damage[0].n_hits + stream.batch.damage[1].n_hits, 9U);
}

TEST(StepFilter, TheOnlyOneMayBeAnywhereAhead) {
  Filtered stream;
  stream.filter.expect(std::numeric_limits<Epoch>::max());
  stream.filter.begin_at(0, kReach);
  stream.take({5, kFarAway, kFarAway + 1, 9});
  EXPECT_EQ(stream.kept(), (Epochs{5, kFarAway, kFarAway + 1}));
}

}  // namespace
}  // namespace eventloom::test
