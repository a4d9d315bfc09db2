#include <gtest/gtest.h>

#include <algorithm>

#include "trb_maker.hpp"

namespace eventloom::test {
namespace {

bool is_read_as(const Bytes& whole, const Bytes& subevents) {
  const auto read = read_trb_datagram(whole);
  return read && std::ranges::equal(*read, subevents);
}

TEST(TrbDatagram, IsTheUnitAndItsBeginningAgain) {
  for (std::uint32_t words = 0; words < 20; ++words) {
    const auto subevents = subevent(7, words);
    const auto whole = datagram(subevents);
    ASSERT_EQ(whole.size(), 8 + subevents.size() + kTrbTrailerBytes);
    EXPECT_TRUE(is_read_as(whole, subevents));
    EXPECT_TRUE(std::equal(whole.begin(), whole.begin() + 24, whole.end() - 32)) << words;
  }
}

TEST(TrbDatagram, MayHaveNoSubevents) { EXPECT_TRUE(is_read_as(datagram({}), {})); }

TEST(TrbDatagram, ItsLastSubeventNeedNotBePadded) {
  auto subevents = subevent(7, 3);
  subevents.resize(16 + 4 * 3);
  EXPECT_TRUE(is_read_as(datagram(subevents), subevents));
}

TEST(TrbDatagram, TheTrailerOfAShortUnitMayEndWithZeros) {
  const auto subevents = subevent(7, 0);
  auto whole = datagram(subevents);
  std::fill(whole.end() - 8, whole.end(), std::byte{0});
  EXPECT_TRUE(is_read_as(whole, subevents));
  whole.back() = std::byte{1};
  EXPECT_FALSE(read_trb_datagram(whole));
}

TEST(TrbDatagram, AnyOtherTrailerOrLengthIsRefused) {
  const auto whole = datagram(subevent(7, 9));
  for (std::size_t i = whole.size() - kTrbTrailerBytes; i < whole.size(); ++i) {
    auto wrong = whole;
    wrong[i] ^= std::byte{0x10};
    EXPECT_FALSE(read_trb_datagram(wrong)) << i;
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(read_trb_datagram(std::span(whole).first(size))) << size;
  }
  auto longer = whole;
  longer.resize(whole.size() + 8);
  EXPECT_FALSE(read_trb_datagram(longer));
}

TEST(TrbDatagram, SizesThatAreImpossibleAreRefused) {
  for (const unsigned size : {0U, 1U, 7U, 0xffU}) {
    Bytes whole(64);
    whole[3] = static_cast<std::byte>(size);
    whole[5] = std::byte{2};
    std::copy_n(whole.begin(), 32, whole.begin() + 32);
    EXPECT_FALSE(read_trb_datagram(whole)) << size;
  }
  EXPECT_FALSE(read_trb_datagram(Bytes(64, std::byte{0xff})));
}

}  // namespace
}  // namespace eventloom::test
