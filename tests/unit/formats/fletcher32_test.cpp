#include "formats/fletcher32.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace eventloom::test {

namespace {

/// The checksum as HDF5 1.10 computes it (H5checksum.c).
std::uint32_t reference(const std::vector<std::byte>& bytes) {
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  constexpr std::size_t kWordsToOverflow = 360;
  for (std::size_t i = 0; i < bytes.size() / 2; ++i) {
    sum1 += static_cast<std::uint32_t>(bytes[2 * i]) << 8U | static_cast<std::uint32_t>(bytes[2 * i + 1]);
    sum2 += sum1;
    if ((i + 1) % kWordsToOverflow != 0) continue;
    sum1 = (sum1 & 0xffffU) + (sum1 >> 16U);
    sum2 = (sum2 & 0xffffU) + (sum2 >> 16U);
  }
  for (int fold = 0; fold < 2; ++fold) {
    sum1 = (sum1 & 0xffffU) + (sum1 >> 16U);
    sum2 = (sum2 & 0xffffU) + (sum2 >> 16U);
  }
  return sum2 << 16U | sum1;
}

std::uint32_t fletcher32(const std::vector<std::byte>& bytes) {
  Fletcher32 sum;
  sum.add(bytes);
  return sum.value();
}

}  // namespace

TEST(Fletcher32, OfNothingAndOfZeros) {
  EXPECT_EQ(fletcher32({}), 0U);
  EXPECT_EQ(fletcher32(std::vector<std::byte>(5000)), 0U);
}

/// All ones are a multiple of the modulus, which differs from 0.
TEST(Fletcher32, OfOnes) {
  for (const std::size_t n : {2U, 64U, 65536U, 524280U}) {
    const std::vector<std::byte> ones(n, std::byte{0xff});
    EXPECT_EQ(fletcher32(ones), 0xffffffffU);
    EXPECT_EQ(fletcher32(ones), reference(ones));
  }
}

TEST(Fletcher32, IsHdf5s) {
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::vector<std::byte> bytes(2 * (random() % 40000));
    const bool sparse = i % 3 == 0;
    for (auto& byte : bytes) byte = static_cast<std::byte>(sparse ? random() % 50 == 0 : random());
    EXPECT_EQ(fletcher32(bytes), reference(bytes)) << bytes.size() << " bytes";
  }
}

TEST(Fletcher32, InPieces) {
  std::mt19937 random(2);
  std::vector<std::byte> bytes(100'000);
  for (auto& byte : bytes) byte = static_cast<std::byte>(random());
  for (int i = 0; i < 50; ++i) {
    Fletcher32 sum;
    for (std::size_t at = 0; at < bytes.size();) {
      const auto n = std::min<std::size_t>(bytes.size() - at, 2 * (1 + random() % 20000));
      sum.add(std::span(bytes).subspan(at, n));
      at += n;
    }
    EXPECT_EQ(sum.value(), fletcher32(bytes));
  }
}

}  // namespace eventloom::test
