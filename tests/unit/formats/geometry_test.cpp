#include "formats/geometry.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace eventloom::test {

TEST(Geometry, SlicesOwnWholeEpochs) {
  const SliceGeometry g{{1000, 100}, 10, 100, 0};
  EXPECT_EQ(g.owned_epochs({3}), (EpochRange{30, 40}));
  EXPECT_EQ(g.owned_ticks({3}), (TickRange{3000, 4000}));
  EXPECT_EQ(g.slice_of(39), SliceId{3});
  EXPECT_EQ(g.slice_of(40), SliceId{4});
}

TEST(Geometry, MarginIsWholeEpochsAndStopsAtZero) {
  EXPECT_EQ((SliceGeometry{{1000, 100}, 10, 100, 0}.sent_epochs({3})), (EpochRange{29, 41}));
  EXPECT_EQ((SliceGeometry{{1000, 100}, 10, 100, 1}.sent_epochs({3})), (EpochRange{28, 42}));
  EXPECT_EQ((SliceGeometry{{1000, 100}, 10, 0, 0}.sent_epochs({3})), (EpochRange{30, 40}));
  EXPECT_EQ((SliceGeometry{{1000, 100}, 1, 450, 0}.sent_epochs({2})), (EpochRange{0, 8}));
}

/// Ticks of the last epoch, of the longest possible slices around it and of their margins do not wrap.
TEST(Geometry, TicksFitUpToTheLastEpoch) {
  for (const std::uint32_t epoch_ticks : {1U, 7U, 10'000U, kMaxEpochTicks}) {
    const Epoch last = max_epoch(epoch_ticks);
    EXPECT_GT(last, Epoch(std::uint64_t{1} << 44));
    EXPECT_EQ((last + 1) * epoch_ticks / epoch_ticks, last + 1);
    for (const Tick overlap : {Tick(0), Tick(1 << 29)}) {
      const SliceGeometry g{{1000, epoch_ticks}, (1ULL << 30) / epoch_ticks + 1, overlap, overlap};
      const auto sent = g.sent_epochs(g.slice_of(last + g.margin_epochs()));
      EXPECT_GT(sent.end, last);
      EXPECT_EQ(sent.end * epoch_ticks / epoch_ticks, sent.end);
    }
  }
}

TEST(Geometry, EpochsHoldTicks) {
  EXPECT_EQ(epoch_of(299, 100), Epoch(2));
  EXPECT_EQ(epoch_of(300, 100), Epoch(3));
  EXPECT_EQ(tick_of_epoch(3, 100), Tick(300));
  constexpr Tick kMax = std::numeric_limits<Tick>::max();
  const Epoch last = epoch_of(kMax, 100);
  EXPECT_EQ(tick_of_epoch(last, 100), kMax - kMax % 100);
  EXPECT_EQ(tick_of_epoch(last + 1, 100), kMax);
}

TEST(Geometry, MarginSaturates) {
  constexpr Tick kMax = std::numeric_limits<Tick>::max();
  EXPECT_EQ((SliceGeometry{{1000, 100}, 1, kMax, 5}.margin()), kMax);
}

}  // namespace eventloom::test
