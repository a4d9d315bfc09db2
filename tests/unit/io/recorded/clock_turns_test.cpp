#include "io/recorded/clock_turns.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "core/runtime/error.hpp"

namespace eventloom {
namespace {

ClockTurns turns_of(const std::string& bits) { return ClockTurns(SourceUri::parse("csv:a.csv?bits=" + bits)); }

TEST(ClockTurns, UnwrapsNothingWithoutTheKey) { EXPECT_FALSE(ClockTurns(SourceUri::parse("csv:a.csv")).any()); }

/// Times rise on average, but each may precede earlier ones.
TEST(ClockTurns, FindsTheTurnOfEachNumber) {
  constexpr std::uint64_t kPeriod = 1 << 16;
  std::mt19937_64 random(1);
  auto clock = turns_of("16");
  std::uint64_t at = 60'000;
  EXPECT_EQ(clock.extend(at, 0), at);
  for (int i = 0; i < 20'000; ++i) {
    at += random() % 20'000;
    const auto late = at - random() % 10'000;
    ASSERT_EQ(clock.extend(late % kPeriod, 7), late) << i;
  }
  EXPECT_NEAR(static_cast<double>(clock.turns()), static_cast<double>(at / kPeriod), 1);
}

TEST(ClockTurns, NothingComesBeforeTheFirstTurn) {
  auto clock = turns_of("16");
  EXPECT_EQ(clock.extend(5, 0), 5U);
  EXPECT_EQ(clock.extend(65'530, 0), 65'530U) << "it cannot be 11 before 5";
}

TEST(ClockTurns, CountersOfDifferentWidthContinueTogether) {
  constexpr std::uint64_t kNarrow = std::uint64_t{1} << 32;
  auto clock = turns_of("0-15:32,0x10-31:48");
  for (std::uint64_t at = kNarrow / 2; at < 20 * kNarrow; at += kNarrow / 8) {
    EXPECT_EQ(clock.extend(at, 16), at);
    EXPECT_EQ(clock.extend((at + 3) % kNarrow, 15), at + 3);
  }
  EXPECT_EQ(clock.extend(5, 32), std::nullopt);
  EXPECT_NE(clock.defect("5", 32).find("channel 32"), std::string::npos);
}

TEST(ClockTurns, ANumberOfMoreBitsIsNone) {
  auto clock = turns_of("16");
  EXPECT_EQ(clock.extend(1 << 16, 0), std::nullopt);
  EXPECT_NE(clock.defect("65536", 0).find("the time 65536 is not a number of a counter that starts again at 65536"),
            std::string::npos);
}

/// 709,551,616 numbers are left below 2^64 in this turn.
TEST(ClockTurns, NumbersBeyond64BitsAreNone) {
  ClockTurns clock(SourceUri::parse("csv:a.csv?modulus=18446744073&turns=1000000000"));
  EXPECT_TRUE(clock.extend(0, 0));
  EXPECT_TRUE(clock.extend(1, 0));
  EXPECT_EQ(clock.extend(709'551'615, 0), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(clock.extend(709'551'616, 0), std::nullopt);
  EXPECT_EQ(clock.extend(800'000'000, 0), std::nullopt);
}

TEST(ClockTurns, ACounterMayStartAgainAtAnyNumber) {
  ClockTurns clock(SourceUri::parse("csv:a.csv?modulus=210698240"));
  for (std::uint64_t at = 5; at < 20'000'000'000; at += 90'000'001) ASSERT_EQ(clock.extend(at % 210'698'240, 1), at);
  EXPECT_EQ(clock.turns(), 94U);
  EXPECT_EQ(clock.extend(210'698'240, 1), std::nullopt);
}

TEST(ClockTurns, NumbersWithASignAreTwosComplement) {
  auto clock = turns_of("16");
  EXPECT_EQ(clock.extend_signed(-5, 0), 65'531U);
  EXPECT_EQ(clock.extend_signed(7, 0), 65'543U);
  EXPECT_EQ(clock.extend_signed(-32'768, 0), 65'536U + 32'768U);
  EXPECT_EQ(clock.extend_signed(-32'769, 0), std::nullopt);
}

TEST(ClockTurns, GoesOnAfterAnotherFile) {
  auto before = turns_of("16");
  before.extend(65'000, 0);
  auto clock = turns_of("16");
  clock.go_on_after(before);
  EXPECT_EQ(clock.extend(10, 0), 65'546U);
  EXPECT_EQ(clock.turns(), 1U);
}

TEST(ClockTurns, KnowsWhichNumbersPrecedeTheFirst) {
  ClockTurns clock(SourceUri::parse("csv:a.csv?bits=16&turns=1"));
  EXPECT_EQ(clock.extend(5, 0), 65'541U);
  EXPECT_EQ(clock.extend(65'530, 0), 65'530U);
  EXPECT_EQ(clock.extend(900, 0), 66'436U);
  EXPECT_EQ(clock.extent()->first - clock.extent()->lowest, 11U);
  EXPECT_EQ(clock.extent()->greatest, 66'436U);
}

TEST(ClockTurns, NoneNeverTurns) { EXPECT_FALSE(turns_of("none").any()); }

TEST(ClockTurns, RefusesOtherTexts) {
  for (const char* bits : {"", "7", "64", "x", "32,", "5:", "5-3:32", "1-2-3:32", "32 ", "-1", "0-15:32;16:48"}) {
    EXPECT_THROW(turns_of(bits), UserError) << bits;
  }
}

}  // namespace
}  // namespace eventloom
