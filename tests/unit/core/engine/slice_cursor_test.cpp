#include "core/engine/slice_cursor.hpp"

#include <gtest/gtest.h>

#include <random>

namespace eventloom {
namespace {

TEST(NextSlices, KnowTheLowestAfterAnyChange) {
  std::mt19937_64 random(5);
  NextSlices next(7);
  EXPECT_EQ(next.lowest(), kNoSlice);
  for (int i = 0; i < 5000; ++i) {
    const auto builder = random() % 7;
    next.set(builder, random() % 5 == 0 ? kNoSlice : SliceId{random() % 20});
    if (random() % 3 == 0) continue;
    ASSERT_EQ(next.lowest(), std::ranges::min(next.all())) << "after " << i << " changes";
  }
}

}  // namespace
}  // namespace eventloom
