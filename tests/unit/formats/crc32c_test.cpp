#include "formats/crc32c.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace eventloom::test {

namespace {

std::vector<std::byte> ramp(int first, int step) {
  std::vector<std::byte> bytes(32);
  for (int i = 0; i < 32; ++i) bytes[static_cast<std::size_t>(i)] = static_cast<std::byte>(first + step * i);
  return bytes;
}

}  // namespace

// RFC 3720, B.4, prints the bytes of the checksum in the order of sending, lowest first: "aa 36 91 8a".
TEST(Crc32c, ExamplesOfRfc3720) {
  EXPECT_EQ(crc32c(ramp(0, 0)), 0x8a9136aaU);
  EXPECT_EQ(crc32c(ramp(0xff, 0)), 0x62a8ab43U);
  EXPECT_EQ(crc32c(ramp(0, 1)), 0x46dd794eU);
  EXPECT_EQ(crc32c(ramp(31, -1)), 0x113fdb5cU);
}

TEST(Crc32c, IscsiReadCommandOfRfc3720) {
  std::vector<std::byte> pdu(48);
  const std::pair<std::size_t, int> set[] = {{0, 0x01},  {1, 0xc0},  {16, 0x14}, {22, 0x04},
                                             {27, 0x14}, {31, 0x18}, {32, 0x28}, {40, 0x02}};
  for (const auto& [at, value] : set) pdu[at] = static_cast<std::byte>(value);
  EXPECT_EQ(crc32c(pdu), 0xd9963a56U);
}

TEST(Crc32c, CheckValueAndContinuation) {
  constexpr std::string_view kDigits = "123456789";
  const auto bytes = std::as_bytes(std::span(kDigits));
  EXPECT_EQ(crc32c(bytes), 0xe3069283U);
  for (std::size_t n = 0; n <= bytes.size(); ++n)
    EXPECT_EQ(crc32c(bytes.subspan(n), crc32c(bytes.first(n))), 0xe3069283U);
  EXPECT_EQ(crc32c({}), 0U);
}

TEST(Crc32OfZlib, CheckValueAndContinuation) {
  constexpr std::string_view kDigits = "123456789";
  const auto bytes = std::as_bytes(std::span(kDigits));
  EXPECT_EQ(crc32_of_zlib(bytes), 0xcbf43926U);
  for (std::size_t n = 0; n <= bytes.size(); ++n)
    EXPECT_EQ(crc32_of_zlib(bytes.subspan(n), crc32_of_zlib(bytes.first(n))), 0xcbf43926U);
  EXPECT_EQ(crc32_of_zlib({}), 0U);
}

}  // namespace eventloom::test
