#include "core/dataflow/live_positions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>

namespace eventloom {
namespace {

TEST(LivePositions, OnlyWhatIsDecidedWithoutDataClosesEpochs) {
  LivePositions positions;
  positions.advance(5, Advance::received);
  EXPECT_EQ(positions.received(), Epoch(5));
  EXPECT_EQ(positions.complete(), Epoch(5));
  EXPECT_EQ(positions.closed(), Epoch(0)) << "damage may still be found there";
  Epoch to = 5;
  for (const auto how : {Advance::missing, Advance::empty, Advance::settled, Advance::ended}) {
    EXPECT_EQ(positions.unknown(), to);
    positions.advance(to += 5, how);
    EXPECT_EQ(positions.closed(), to);
    EXPECT_EQ(positions.complete(), to);
  }
  EXPECT_EQ(positions.received(), Epoch(5)) << "its peer has sent no more";
}

TEST(LivePositions, AdjacentStretchesThatArePassedAreOne) {
  LivePositions positions;
  positions.take(3);
  positions.advance(10, Advance::empty);
  positions.advance(20, Advance::empty);
  EXPECT_FALSE(positions.was_passed(2)) << "data were taken there";
  EXPECT_TRUE(positions.was_passed(3));
  EXPECT_TRUE(positions.was_passed(19));
  positions.advance(25, Advance::missing);
  positions.advance(30, Advance::empty);
  EXPECT_FALSE(positions.was_passed(19)) << "the latest stretch only";
  EXPECT_FALSE(positions.was_passed(24));
  EXPECT_TRUE(positions.was_passed(25));
}

TEST(LivePositions, ThePeerEndsAnOpenSourceAndTheRunOneThatIsEnding) {
  LivePositions by_peer;
  by_peer.drain();
  EXPECT_EQ(by_peer.stage(), LiveStage::ended);
  by_peer.finish();
  EXPECT_EQ(by_peer.stage(), LiveStage::ended);
  LivePositions by_run;
  by_run.finish();
  EXPECT_EQ(by_run.stage(), LiveStage::ending);
  EXPECT_FALSE(by_run.is_drained());
  by_run.drain();
  EXPECT_EQ(by_run.stage(), LiveStage::drained);
  by_run.advance(10, Advance::missing);
  EXPECT_EQ(by_run.stage(), LiveStage::drained);
  by_run.advance(10, Advance::ended);
  by_run.drain();
  EXPECT_EQ(by_run.stage(), LiveStage::ended);
}

TEST(LivePositions, TheRunBeginsWithNothingReceived) {
  LivePositions positions;
  positions.advance(50, Advance::received);
  positions.begin_run(40);
  EXPECT_TRUE(positions.begun());
  EXPECT_EQ(positions.run().begin, Epoch(40));
  EXPECT_EQ(positions.closed(), Epoch(40));
  EXPECT_EQ(positions.complete(), Epoch(0));
  EXPECT_EQ(positions.unknown(), Epoch(40));
}

/// Whatever moves them: no position moves back, and their order stays.
TEST(LivePositions, KeepTheirOrderAndNeverMoveBack) {
  std::mt19937 random(1);
  const auto draw = [&](std::uint64_t most) { return random() % (most + 1); };
  for (int sequence = 0; sequence < 2000 && !testing::Test::HasFailure(); ++sequence) {
    LivePositions positions;
    positions.begin_run(Epoch(draw(20)));
    for (int step = 0; step < 100; ++step) {
      const auto before = positions;
      switch (draw(4)) {
        case 0: positions.close_before(Epoch(draw(positions.complete().value))); break;
        case 1: positions.advance(Epoch(draw(positions.closed().value)), Advance::released); break;
        case 2:
          draw(9) == 0 ? positions.finish() : positions.take(std::max(positions.taken(), Epoch(draw(200))));
          break;
        case 3: draw(9) == 0 ? positions.drain() : positions.advance(Epoch(draw(200)), Advance::received); break;
        default: positions.advance(Epoch(draw(200)), static_cast<Advance>(draw(draw(9) == 0 ? 4 : 3)));
      }
      EXPECT_LE(positions.received(), positions.complete());
      EXPECT_LE(positions.released(), positions.closed());
      EXPECT_LE(positions.closed(), std::max(positions.complete(), positions.run().begin));
      EXPECT_GE(positions.unknown(), before.unknown());
      EXPECT_GE(positions.received(), before.received());
      EXPECT_GE(positions.complete(), before.complete());
      EXPECT_GE(positions.closed(), before.closed());
      EXPECT_GE(positions.released(), before.released());
      EXPECT_GE(positions.stage(), before.stage());
    }
  }
}

}  // namespace
}  // namespace eventloom
