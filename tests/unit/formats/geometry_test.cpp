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

TEST(Geometry, MarginSaturates) {
  constexpr Tick kMax = std::numeric_limits<Tick>::max();
  EXPECT_EQ((SliceGeometry{{1000, 100}, 1, kMax, 5}.margin()), kMax);
}

}  // namespace eventloom::test
