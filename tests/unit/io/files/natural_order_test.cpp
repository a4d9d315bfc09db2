#include "io/files/natural_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace eventloom {
namespace {

/// In ascending order: digits compare as numbers; if these are equal, all bytes decide.
const std::vector<std::string> kInOrder = {"",
                                           "a",
                                           "a/2",
                                           "a/10",
                                           "a0",
                                           "a00",
                                           "a1",
                                           "a01b",
                                           "a1b",
                                           "a01c",
                                           "a2",
                                           "a9",
                                           "a10",
                                           "a99999999999999999999",
                                           "a100000000000000000000",
                                           "b",
                                           "run05_4",
                                           "run5_4",
                                           "run5_10",
                                           "\xc3\xa4"};

TEST(NaturalOrder, AnyTwoNames) {
  for (std::size_t i = 0; i < kInOrder.size(); ++i) {
    for (std::size_t j = 0; j < kInOrder.size(); ++j) {
      EXPECT_EQ(comes_before(kInOrder[i], kInOrder[j]), i < j) << kInOrder[i] << " " << kInOrder[j];
    }
  }
}

TEST(NaturalOrder, SortsWhateverTheOrderBefore) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    auto names = kInOrder;
    std::ranges::shuffle(names, random);
    std::ranges::sort(names, comes_before);
    EXPECT_EQ(names, kInOrder);
  }
}

}  // namespace
}  // namespace eventloom
