#include "io/udp/board_position.hpp"

#include <gtest/gtest.h>

namespace eventloom::test {
namespace {

constexpr std::int64_t kSecond_ns = 1'000'000'000;
/// For the default time base of 10 us per epoch.
constexpr Epoch kEpochsInASecond = 100'000;
constexpr Epoch kFarOff = 1'000 * kEpochsInASecond;

struct Position : BoardPosition {
  Position() : BoardPosition(TimeBase{}) {}
  /// The cause of the refusal of a buffer of one epoch; std::nullopt: it is delivered.
  std::optional<DropCause> take(Epoch epoch, std::int64_t now_ns = 0) {
    const EpochRange epochs{epoch, epoch + 1};
    const auto refusal = judge(epochs, now_ns);
    if (refusal) return refusal->cause;
    deliver(epochs, now_ns);
    return std::nullopt;
  }
};

TEST(BoardPosition, BeginsAnywhereAndAscends) {
  Position at;
  EXPECT_FALSE(at.is_known());
  EXPECT_EQ(at.take(kFarOff), std::nullopt);
  EXPECT_TRUE(at.is_known());
  EXPECT_EQ(at.next(), kFarOff + 1);
  EXPECT_EQ(at.take(kFarOff), DropCause::corrupt) << "received before";
  EXPECT_EQ(at.take(kFarOff + 5), std::nullopt);
  EXPECT_EQ(at.take(max_epoch(TimeBase{}.epoch_ticks) + 1), DropCause::corrupt);
}

TEST(BoardPosition, MayBeAheadByTheTimePassedAndAMinute) {
  Position at;
  at.take(0);
  EXPECT_EQ(at.take(62 * kEpochsInASecond), DropCause::out_of_step);
  EXPECT_EQ(at.take(62 * kEpochsInASecond, 3 * kSecond_ns), std::nullopt);
}

TEST(BoardPosition, WhatARestartedBoardRepeatsIsLate) {
  Position at;
  at.take(100);
  at.begin_session();
  EXPECT_EQ(at.take(50), DropCause::late);
  EXPECT_EQ(at.take(101), std::nullopt);
}

TEST(BoardPosition, AJumpIsAcceptedWhenManyAgree) {
  Position at;
  at.take(0);
  for (std::uint32_t n = 1; n < BoardPosition::kJumpBuffers; ++n) {
    EXPECT_EQ(at.take(kFarOff + Epoch(n)), DropCause::out_of_step);
  }
  EXPECT_EQ(at.take(kFarOff + 100), std::nullopt);
  EXPECT_EQ(at.take(1), std::nullopt) << "back where it was";
}

TEST(BoardPosition, AJumpIsForgottenWithItsSessionAndByDisagreement) {
  Position at;
  at.take(0);
  for (std::uint32_t n = 1; n < BoardPosition::kJumpBuffers; ++n) at.take(kFarOff + Epoch(n));
  at.begin_session();
  EXPECT_EQ(at.take(kFarOff + 100), DropCause::out_of_step);
  for (std::uint32_t n = 1; n < 3 * BoardPosition::kJumpBuffers; ++n) {
    EXPECT_EQ(at.take(kFarOff * (1 + n % 2)), DropCause::out_of_step);
  }
}

TEST(BoardPosition, MarksMoveItAhead) {
  Position at;
  EXPECT_TRUE(at.admits(kFarOff, 0));
  at.reach(kFarOff, 0);
  EXPECT_TRUE(at.is_known());
  EXPECT_EQ(at.next(), kFarOff);
  at.reach(5, 0);
  EXPECT_EQ(at.next(), kFarOff);
  EXPECT_FALSE(at.admits(kFarOff + 61 * kEpochsInASecond, 0));
  EXPECT_TRUE(at.admits(kFarOff + 61 * kEpochsInASecond, kSecond_ns));
  EXPECT_FALSE(at.admits(Epoch(~0ULL), 0));
}

}  // namespace
}  // namespace eventloom::test
