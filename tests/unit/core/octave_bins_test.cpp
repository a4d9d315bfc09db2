#include "core/monitor/octave_bins.hpp"

#include <gtest/gtest.h>

namespace eventloom {
namespace {

/// Every number is in one bin: bins follow one another without gaps from 0 to the largest number.
template <class Bins>
void expect_a_partition() {
  std::uint64_t begin = 0;
  for (std::size_t bin = 0; bin < Bins::kBins; ++bin) {
    ASSERT_EQ(Bins::begin_of(bin), begin) << bin;
    const auto last = begin + Bins::width_of(bin) - 1;
    EXPECT_EQ(Bins::bin_of(begin), bin);
    EXPECT_EQ(Bins::bin_of(last), bin);
    begin = last + 1;
  }
  EXPECT_EQ(begin, 0U) << "the last bin ends with the largest number";
}

TEST(OctaveBins, HoldEveryNumberOnce) {
  expect_a_partition<OctaveBins<7, 2>>();
  expect_a_partition<OctaveBins<8, 7>>();
}

TEST(OctaveBins, HaveTheWidthsTheyAreSaidToHave) {
  using Bins = OctaveBins<7, 2>;
  EXPECT_EQ(Bins::width_of(Bins::bin_of(127)), 1U);
  EXPECT_EQ(Bins::width_of(Bins::bin_of(128)), 32U) << "four per power of two";
  EXPECT_EQ(Bins::width_of(Bins::bin_of(255)), 32U);
  EXPECT_EQ(Bins::width_of(Bins::bin_of(256)), 64U);
  EXPECT_EQ(Bins::bin_of(~std::uint64_t{0}), Bins::kBins - 1);
}

}  // namespace
}  // namespace eventloom
