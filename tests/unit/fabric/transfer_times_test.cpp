#include "core/fabric/transfer_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace eventloom {
namespace {

TEST(TransferTimes, HaveMeanDeviationAndPercentile) {
  EXPECT_EQ(spread_of({}).n, 0U);
  std::vector<Transfer> transfers;
  for (int i = 100; i >= 1; --i) transfers.push_back({0, 1, 1000.0 - i, 1000.0, 8});
  const auto times = transfer_times(transfers);
  EXPECT_EQ(times.n, 100U);
  EXPECT_DOUBLE_EQ(times.mean, 50.5);
  EXPECT_NEAR(times.deviation, std::sqrt((100.0 * 100 - 1) / 12), 1e-9);
  EXPECT_EQ(times.min, 1);
  EXPECT_EQ(times.p99, 99);
  EXPECT_EQ(times.max, 100);
}

/// Builder 0 receives two slices of 1000 and 3000 bytes from each of ranks 1 and 2, and from itself.
BuiltPieces two_slices() {
  BuiltPieces pieces(3);
  for (const std::uint64_t bytes : {1000, 3000}) {
    for (std::uint32_t source = 0; source < 3; ++source) pieces.add(source, 0, bytes);
  }
  return pieces;
}

TEST(SliceArrivals, AreWhenTheLastByteOfAPieceIsThere) {
  // Rank 1: a transfer for each piece, with headers of 10 %. Rank 2: parts, the second of which holds the end of one
  // piece and the beginning of the next.
  const std::vector<Transfer> transfers{
      {1, 0, 0, 1, 1100}, {2, 0, 0, 2, 500}, {2, 0, 2, 5, 1500}, {1, 0, 1, 8, 3300}, {2, 0, 5, 12, 2000}};
  const auto arrivals = two_slices().arrivals(transfers);
  EXPECT_EQ(arrivals.span.n, 2U);
  EXPECT_DOUBLE_EQ(arrivals.span.min, 5 - 1);
  EXPECT_DOUBLE_EQ(arrivals.span.max, 12 - 8);
  EXPECT_DOUBLE_EQ(arrivals.deviation, 2);
}

TEST(SliceArrivals, AreNoneWithinANode) {
  const auto arrivals = two_slices().arrivals({});
  EXPECT_EQ(arrivals.span.n, 0U);
  EXPECT_EQ(arrivals.deviation, 0);
}

}  // namespace
}  // namespace eventloom
